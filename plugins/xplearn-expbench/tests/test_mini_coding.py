"""Own coding problems: each solvable, each with tests that a plausible mistake fails, none in two splits."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter

import pytest
from xplearn_expbench.checkers.code import CodeChecker, reference
from xplearn_expbench.mini.coding import TEMPLATES, humaneval, mbpp, problems
from xplearn_expbench.mini.telling import chosen, gives
from xplearn_expbench.mini.templates import arguments, filled
from xplearn_expbench.runner.inside.compare import SAME, compiled, same
from xplearn_expbench.spec import Execution

TASKS = {"humaneval": humaneval, "mbpp": mbpp}


@pytest.fixture(params=TASKS)
def rows(request):
    return TASKS[request.param]()


def passes(code, tests):
    """As the runner would judge, but here: these programs are our own."""
    scope = {SAME: same}
    exec(code, scope)
    try:
        exec(compiled(tests), scope)
    except Exception:
        return False
    return True


def asserted(problem):
    return "\n".join(f"assert {call} == {expected}" for call, expected in problem.calls)


def test_there_are_enough_of_every_level(rows):
    splits = Counter(row.split for row in rows)
    assert splits["train"] >= 200
    assert splits["test"] >= 100
    assert set(splits) == {"train", "test"}
    for split in splits:
        levels = Counter(row.meta["level"] for row in rows if row.split == split)
        assert min(levels[1], levels[2], levels[3]) >= 20
    assert len({row.meta["family"] for row in rows}) >= 60


def test_no_question_stands_twice_in_a_task_and_no_problem_in_both():
    rows = {name: task() for name, task in TASKS.items()}
    for task in rows.values():
        assert len({row.question for row in task}) == len({row.id for row in task}) == len(task)
    total = sum(map(len, rows.values()))
    assert len({(problem.template.name, problem.text) for problem in problems()}) == len(problems()) == total


def test_rows_are_the_same_each_time(rows):
    again = TASKS[rows[0].id.partition("-")[0]]()
    assert again == rows
    assert again is not rows


def test_every_reference_passes_and_every_mistake_fails(rows):
    known = {(problem.template.name, asserted(problem)): problem for problem in problems()}
    for row in rows:
        problem = known[row.meta["family"], row.meta["tests"].strip()]
        assert passes(row.answer, row.meta["tests"]), row.answer
        assert not passes(problem.wrong, row.meta["tests"]), problem.wrong


def test_no_solution_of_another_problem_of_the_family_passes():
    functions = {problem.reference: function(problem.reference, problem.template.name) for problem in problems()}
    for problem in problems():
        given = [ast.literal_eval(f"[{call.removeprefix(problem.template.name)[1:-1]}]") for call, _ in problem.calls]
        expected = [result for _, result in problem.calls]
        for other in problems():
            if other.template is problem.template and other is not problem:
                results = [gives(functions[other.reference], arguments) for arguments in given]
                assert results != expected, (problem.text, other.text)


def test_a_copied_training_solution_passes_no_test_of_its_family():
    training = [row for task in TASKS.values() for row in task() if row.split == "train"]
    for row in mbpp():
        if row.split == "test":
            for other in training:
                if other.meta["family"] == row.meta["family"]:
                    assert not passes(other.answer, row.meta["tests"]), (row.question, other.question)


def test_two_problems_that_are_the_same_are_refused():
    template = next(template for template in TEMPLATES if template.name == "add_constant")
    plus, minus = (function(f"def add_constant(x):\n    return x {sign} 1\n", "add_constant") for sign in "+-")
    with pytest.raises(ValueError, match="add_constant: no call tells"):
        chosen(template, {"k": 1}, plus, minus, [plus])


def function(source, name):
    scope = {}
    exec(source, scope)
    return scope[name]


def test_no_constant_and_no_argument_passes_for_an_answer():
    for problem in problems():
        first = problem.reference.split(":\n")[0]
        names = [name for name, _ in arguments(problem.template.takes)]
        for answer in (*names, *{expected for _, expected in problem.calls}):
            assert not passes(f"{first}:\n    return {answer}\n", asserted(problem)), (problem.text, answer)


def test_a_solution_that_knows_only_the_shown_tests_fails(rows):
    for row in rows:
        shown = 2 if "prompt" in row.meta else 1
        known = [line.removeprefix("assert ").rpartition(" == ") for line in row.meta["tests"].splitlines()[:shown]]
        answers = "".join(
            f"    if repr(given) == {call.removeprefix(row.meta['family'])!r}: return {result}\n" for call, _, result in known
        )
        assert not passes(f"def {row.meta['family']}(*given):\n{answers}", row.meta["tests"])


def test_eight_tests_of_which_two_results_differ_and_one_shows_the_mistake():
    for problem in problems():
        assert len(set(problem.calls)) == 8
        assert len({expected for _, expected in problem.calls}) >= 2
        assert not passes(problem.wrong, asserted(problem))


def test_a_completion_row_gives_signature_and_examples_and_a_sentence_row_one_test():
    for row in humaneval():
        assert row.question == row.meta["prompt"]
        assert row.answer.startswith(row.question)
        assert row.question.count(f">>> {row.meta['entry_point']}(") == 2
        assert compile(row.question, "", "exec")
    for row in mbpp():
        assert row.question.startswith("Write a function to ")
        assert row.meta["shown_test"].startswith(f"assert {row.meta['entry_point']}(")
        assert row.meta["shown_test"] in row.meta["tests"]


def test_numbers_and_nouns_agree():
    for problem in problems():
        assert not re.search(r"\d-(?:th|st)|\b1 (?:place|letter|digit|number|name)s|\b1 decimal digits|[123]th\b", problem.text), (
            problem.text
        )
    every = {problem.text for problem in problems() if problem.template.name == "every_other"}
    assert "return every 3rd number, beginning with the 2nd, where the first number is the 1st" in every


RECORDED = {"humaneval": "bc5920848e89", "mbpp": "7e90e0857e2c"}


def test_rows_are_as_recorded():
    told = {
        name: repr([(row.id, row.question, row.answer, row.split, row.meta["tests"]) for row in task()]) for name, task in TASKS.items()
    }
    assert {name: hashlib.blake2b(rows.encode(), digest_size=6).hexdigest() for name, rows in told.items()} == RECORDED


def test_the_places_of_every_template_are_filled():
    assert len(TEMPLATES) == len({template.name for template in TEMPLATES}) >= 60
    for template in TEMPLATES:
        assert {template.level} <= {1, 2, 3}
        sentences = [filled(template.text, values) for values in template.values]
        assert len(set(sentences)) == len(sentences)
        assert "$" not in "".join(sentences)
    assert "\n\n\n" not in "".join(problem.reference for problem in problems())


def test_the_runner_agrees(rows):
    checker = CodeChecker(Execution(allow=True))
    chosen = rows[:12]
    wrong = {asserted(problem) + "\n": problem.wrong for problem in problems()}
    right = checker.runner.run_all(map(reference, chosen))
    assert [outcome.ending for outcome in right] == ["passed"] * 12
    verdicts = checker.check_all((row, f"```python\n{wrong[row.meta['tests']]}```") for row in chosen)
    assert [verdict.score for verdict in verdicts] == [0.0] * 12
