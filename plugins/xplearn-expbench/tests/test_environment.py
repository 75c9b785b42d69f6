from __future__ import annotations

import dataclasses
import json

import pytest
from xplearn_expbench.catalogue import TASKS
from xplearn_expbench.spec import Row

import xplearn
from xplearn import ConfigError, ContractError, DataError
from xplearn.keys import query_text

PLAYED = {"nq_open": "qa", "mmlu": "choice", "gsm8k": "maths", "humaneval": "code", "rec_movies": "ranking"}
ALLOWED = {"execution": {"allow": True}}


@pytest.fixture(autouse=True)
def _fakes(fakes):
    """Fake rows and checkers behind the five tasks above."""


def make(name="gsm8k", **fields):
    return xplearn.make("environment", f"expbench.{name}", **(ALLOWED if name == "humaneval" else {}), **fields)


def conversation(env, task):
    return "\n".join(message["content"] for message in env.opening(task, env.reset(task, seed=0)))


def answers(text):
    """Answers of examples in a text."""
    return sum(line.startswith("#### ") for line in text.splitlines())


def wanted(row):
    return row.choices[row.answer] if isinstance(row.answer, int) else row.answer[0] if isinstance(row.answer, list) else row.answer


@pytest.mark.parametrize("name", PLAYED)
def test_a_demonstration_is_one_right_step(name):
    env = make(name)
    for split in env.splits():
        for task in env.tasks(split)[:3]:
            shown = env.demonstrate(task, seed=0)
            assert (len(shown.steps), shown.score, shown.success, shown.steps[0].terminated) == (1, 1.0, True, True)


@pytest.mark.parametrize("name", PLAYED)
def test_ids_kinds_and_goals_are_those_of_the_rows(name, fakes):
    rows = {f"{name}/{row.id}": row.question for row in getattr(fakes, PLAYED[name])}
    env = make(name)
    tasks = [task for split in env.splits() for task in env.tasks(split)]
    assert {task.id: task.goal for task in tasks} == rows
    assert {task.kind for task in tasks} == {name}
    assert {task.env for task in tasks} == {f"expbench.{name}"}


@pytest.mark.parametrize("name", ["nq_open", "gsm8k", "humaneval"])
def test_neither_prompt_nor_task_holds_the_answer(name, fakes):
    rows = {f"{name}/{row.id}": row for row in getattr(fakes, PLAYED[name])}
    env = make(name)
    for task in env.tasks("train"):
        answer = wanted(rows[task.id])
        text = conversation(env, task).replace(task.goal, "")
        assert answer not in text
        assert answer not in json.dumps(dict(task.meta))


@pytest.mark.parametrize("name", ["mmlu", "nq_open", "gsm8k", "humaneval"])
def test_another_answer_makes_no_other_prompt(name, fakes):
    def prompts():
        from xplearn_expbench.questions import open_questions

        open_questions.cache_clear()
        env = make(name)
        return {task.id: conversation(env, task) for task in env.tasks("test")}

    before, kind = prompts(), PLAYED[name]
    other = {"choice": 3, "qa": ["nobody"], "maths": "-1", "code": "pass"}[kind]
    setattr(fakes, kind, [dataclasses.replace(row, answer=other) for row in getattr(fakes, kind)])
    assert prompts() == before


@pytest.mark.parametrize("name", PLAYED)
def test_the_verdict_does_not_tell_the_answer(name, fakes):
    rows = {f"{name}/{row.id}": row for row in getattr(fakes, PLAYED[name])}
    env = make(name)
    for task in env.tasks("test")[:5]:
        for action in ("Answer: none of 99", "hm", env.demonstrate(task, seed=0).steps[0].action):
            env.reset(task, seed=0)
            assert wanted(rows[task.id]) not in env.step(action).observation.text


def test_an_answer_that_cannot_be_read_is_invalid_and_a_wrong_one_is_not():
    env = make("nq_open")
    task = env.tasks("test")[0]
    env.reset(task, seed=0)
    nothing = env.step("xyzzy")
    assert (nothing.info["valid"], nothing.info["status"], nothing.reward, nothing.terminated) == (False, "unparsed", 0.0, True)
    env.reset(task, seed=0)
    wrong = env.step("Answer: nobody")
    assert (wrong.info["valid"], wrong.info["status"], wrong.info["success"]) == (True, "wrong", False)


def test_lines_of_a_completion_stay_together():
    assert make().parse("  thus\n\n#### 4\n") == "  thus\n\n#### 4\n"


def test_the_parts_of_a_score_are_told():
    env = make("nq_open")
    task = env.tasks("test")[0]
    assert env.replay(task, ["Answer: x"], seed=0).score == 0.0
    env.reset(task, seed=0)
    assert env.step("Answer: x").info["parts"] == {"em": 0.0}


def test_candidates_are_listed_where_asked_for_and_only_for_a_ranking():
    env = make("rec_movies")
    task = env.tasks("test")[0]
    assert "env.ranking" in env.provides
    assert "env.actions" not in env.provides
    shown = env.reset(task, seed=0)
    assert len(shown.actions) == 20
    assert all(candidate in shown.text for candidate in shown.actions)
    env.listing = False
    assert env.reset(task, seed=0) == dataclasses.replace(shown, actions=None)
    other = make("mmlu")
    assert other.reset(other.tasks("test")[0], seed=0).actions is None
    assert "env.ranking" not in other.provides


def test_the_demonstrated_order_is_the_target_and_then_the_rest():
    env = make("rec_movies")
    task = env.tasks("test")[0]
    candidates = env.reset(task, seed=0).actions
    order = env.demonstrate(task, seed=0).steps[0].action.split("\n")
    assert sorted(order) == sorted(candidates)
    assert [c for c in candidates if c != order[0]] == order[1:]


def test_a_reward_can_ask_for_one_marker_while_the_score_does_not():
    def played(require, action):
        env = make(require_marker=require)
        task = next(task for split in env.splits() for task in env.tasks(split) if task.goal == "What is 2 and 2?")
        env.reset(task, seed=0)
        outcome = env.step(action)
        return outcome.reward, outcome.info["score"]

    assert played(False, "#### 4 or #### 4") == (1.0, 1.0)
    assert played(True, "#### 4 or #### 4") == (0.0, 1.0)
    assert played(True, "it is 4") == (0.0, 1.0)
    assert played(True, "#### 4") == (1.0, 1.0)


def test_a_ranking_has_no_marker_to_ask_for():
    env = make("rec_movies", require_marker=True)
    assert env.demonstrate(env.tasks("test")[0], seed=0).steps[0].reward == 1.0


def test_examples_are_solved_training_rows_never_the_one_that_is_asked():
    env = make(shots=3)
    train = {task.goal for task in env.tasks("train")}
    for task in [*env.tasks("train"), *env.tasks("test")]:
        _, *examples, user = env.opening(task, env.reset(task, seed=0))
        assert [turn["role"] for turn in examples] == ["user", "assistant"] * 3
        shown = {turn["content"].splitlines()[0] for turn in examples[::2]}
        assert len(shown) == 3
        assert task.goal not in shown
        assert shown <= train
        assert [answers(turn["content"]) for turn in examples[1::2]] == [1, 1, 1]
        assert user["content"].startswith(task.goal)


def test_what_is_found_by_does_not_hold_the_examples():
    bare, env = make(), make(shots=3)
    task = env.tasks("test")[0]
    asked = [query_text(task, which.opening(task, which.reset(task, seed=0))) for which in (bare, env)]
    assert asked[0] == asked[1]


def test_examples_that_ask_the_same_are_passed_over(fakes):
    fakes.maths = [
        Row(id=f"m{n}", question="What is 1 and 1?" if n < 5 else f"What is {n}?", answer=str(n), split="train") for n in range(8)
    ]
    env = make(shots=3)
    text = conversation(env, next(task for task in env.tasks("train") if task.id == "gsm8k/m0"))
    assert text.count("What is 1 and 1?") == 1
    assert answers(text) == 3


def test_examples_follow_the_seed():
    texts = {seed: conversation(env := make(shots=3, seed=seed), env.tasks("test")[0]) for seed in (0, 1)}
    assert texts[0] != texts[1]
    env = make(shots=3)
    assert conversation(env, env.tasks("test")[0]) == texts[0]


def test_more_examples_than_rows_is_told_before_anything_is_played():
    with pytest.raises(ConfigError, match=r"shots: is 500, and gsm8k has \d+ rows"):
        make(shots=500).tasks("test")


def test_programs_are_refused_until_they_are_allowed():
    env = xplearn.make("environment", "expbench.humaneval")
    assert env.version
    assert env.splits() == ("train", "dev", "test")
    with pytest.raises(ConfigError, match=r"execution\.allow.*stream\.0\.env\.execution\.allow=true"):
        env.tasks("test")
    task = make("humaneval").tasks("test")[0]
    with pytest.raises(ConfigError, match=r"execution\.allow"):
        env.reset(task, seed=0)


def test_the_runner_is_made_once_with_the_execution_and_closed(fakes):
    env = xplearn.make("environment", "expbench.humaneval", execution={"allow": True, "seconds": 3.0})
    for task in env.tasks("test")[:3]:
        env.demonstrate(task, seed=0)
    assert (fakes.Runner.made, fakes.Runner.closed) == (1, 0)
    env.close()
    env.close()
    assert (fakes.Runner.made, fakes.Runner.closed) == (1, 1)


def test_rows_can_be_capped_and_splits_resized():
    env = make(rows=20, test_share=0.5, dev_share=0.0)
    sizes = {split: len(env.tasks(split)) for split in env.splits()}
    assert sum(sizes.values()) == 20
    assert sizes["test"] == pytest.approx(10, abs=3)
    assert "dev" not in sizes


def test_an_unknown_split_is_told_with_the_known():
    with pytest.raises(ConfigError, match=r"split: no split is called 'valid' \(known: train, dev, test\)"):
        make().tasks("valid")


def test_strange_tasks_are_refused():
    env = make()
    task = env.tasks("test")[0]
    for wrong in (
        dataclasses.replace(task, id="gsm8k/none"),
        dataclasses.replace(task, id="mmlu/c1"),
        dataclasses.replace(task, env="expbench.mmlu"),
    ):
        with pytest.raises(DataError):
            env.reset(wrong, seed=0)
    with pytest.raises(ContractError):
        env.reset("gsm8k/m0", seed=0)
    with pytest.raises(ContractError):
        env.step("4")


def test_a_question_is_answered_once():
    env = make()
    env.reset(env.tasks("test")[0], seed=0)
    env.step("4")
    with pytest.raises(ContractError, match="reset"):
        env.step("4")


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"tier": "gold"}, "tier"),
        ({"overlap": "keep"}, "overlap"),
        ({"splits_by": "luck"}, "splits_by"),
        ({"rows": 0}, "rows"),
        ({"shots": -1}, "shots"),
        ({"candidates": 1}, "candidates"),
        ({"candidates": -5}, "candidates"),
        ({"test_share": 0.8, "dev_share": 0.3}, "test_share"),
        ({"test_share": float("nan")}, "test_share"),
        ({"data": "somewhere"}, "data"),
        ({"execution": {"seconds": 0}}, "execution.seconds"),
        ({"execution": {"memory_mb": 63}}, "execution.memory_mb"),
        ({"execution": {"allowed": True}}, "execution"),
    ],
)
def test_a_wrong_field_is_named(fields, path):
    with pytest.raises(ConfigError) as told:
        make(**fields)
    assert path in told.value.path


def test_the_version_names_what_scores_depend_on(fakes):
    from xplearn_expbench.questions import open_questions

    texts = {
        str(fields): make("rec_movies", **fields).version for fields in ({}, {"candidates": 10}, {"shots": 2}, {"seed": 1}, {"rows": 30})
    }
    texts["marker"] = make("rec_movies", require_marker=True).version
    open_questions.cache_clear()
    fakes.ranking = [dataclasses.replace(row, question=row.question + "!?") for row in fakes.ranking]
    texts["rows"] = make("rec_movies").version
    assert len(set(texts.values())) == len(texts)
    assert "10 candidates" in texts["{'candidates': 10}"]


def test_dropped_repetitions_are_counted_in_the_version(fakes):
    fakes.maths = [
        Row(id=f"{split}{n}", question=f"What is {n}?", answer="1", split=split) for split in ("train", "test") for n in range(9)
    ]
    fakes.maths.append(Row(id="more", question="What else?", answer="1", split="train"))
    env = make()
    assert "9 repeated in a later split left out" in env.version
    assert [task.id for task in env.tasks("train")] == ["gsm8k/more"]
    assert len(env.tasks("test")) == 9
    with pytest.raises(DataError, match="9 questions"):
        make(overlap="refuse").tasks("test")


def test_every_task_of_the_catalogue_is_an_environment():
    from xplearn.testing import parts

    names = [name.removeprefix("expbench.") for name in parts.names("environment") if name.startswith("expbench.")]
    assert sorted(names) == sorted([*TASKS, "suite"])
    assert all(make(name).specs()[0].name == name for name in TASKS)
