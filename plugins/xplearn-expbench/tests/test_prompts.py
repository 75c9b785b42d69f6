from __future__ import annotations

import dataclasses

import pytest
from xplearn_expbench import prompts
from xplearn_expbench.catalogue import TASKS, resolve
from xplearn_expbench.presenting import presented
from xplearn_expbench.spec import Row

CHOICE = Row(id="c", question="Which?", answer=1, choices=("iron", "gold", "tin", "zinc"))
RANKING = Row(id="r", question="Next?", answer="m7", choices=tuple(f"m{n}" for n in range(60)), meta={"history": ["m1", "m2"]})


@pytest.mark.parametrize(
    ("form", "row", "gold"),
    [
        (prompts.QA, Row(id="q", question="?", answer=["Mark Twain", "Clemens"]), "Answer: Mark Twain"),
        (prompts.CHOICE, CHOICE, "Answer: B"),
        (prompts.NUMBER, Row(id="m", question="?", answer="12"), "#### 12"),
        (prompts.BOXED, Row(id="m", question="?", answer="\\frac{1}{2}"), "\\boxed{\\frac{1}{2}}"),
        (prompts.CODE, Row(id="p", question="?", answer="def f():\n    return 1\n"), "```python\ndef f():\n    return 1\n```"),
        (prompts.MOLECULE, Row(id="x", question="?", answer="yes"), "Answer: yes"),
        (prompts.RANKING, Row(id="r", question="?", answer="b", choices=("a", "b", "c")), "b\na\nc"),
    ],
)
def test_the_right_answer_is_written_as_it_is_asked_for_with_one_marker(form, row, gold):
    assert form.gold(row) == gold
    assert not form.marker or gold.count(form.marker) == 1


def test_every_task_has_a_form():
    assert {name: type(resolve(spec.prompt)) for name, spec in TASKS.items()} == dict.fromkeys(TASKS, prompts.Form)


def test_options_are_lettered():
    assert prompts.CHOICE(CHOICE).splitlines()[:4] == ["A. iron", "B. gold", "C. tin", "D. zinc"]


@pytest.mark.parametrize("form", [prompts.QA, prompts.NUMBER, prompts.BOXED, prompts.CODE, prompts.MOLECULE])
def test_what_is_asked_does_not_depend_on_the_answer(form):
    row = Row(id="a", question="?", answer="first")
    assert form(row) == form(dataclasses.replace(row, answer="second"))


def test_a_molecule_is_asked_for_where_one_is_designed():
    row = Row(id="d", question="?", answer="CCO", meta={"form": "design"})
    assert "SMILES" in prompts.MOLECULE(row)
    assert "yes or no" in prompts.MOLECULE(dataclasses.replace(row, meta={"form": "endpoint"}))


def test_a_program_is_shown_the_test_that_names_it():
    row = Row(id="p", question="?", answer="x", meta={"shown_test": "assert add(1, 2) == 3", "tests": "assert add(9, 9) == 18"})
    assert "assert add(1, 2) == 3" in prompts.CODE(row)
    assert "18" not in prompts.CODE(row)


def test_many_candidates_are_counted_not_listed():
    many = dataclasses.replace(RANKING, choices=tuple(f"m{n}" for n in range(prompts.LISTED + 1)))
    assert "m5" not in prompts.RANKING(many)
    assert f"{prompts.LISTED + 1} candidates" in prompts.RANKING(many)


def test_shuffling_moves_the_answer_along_and_follows_row_and_seed():
    spec = TASKS["mmlu"]
    rows = [dataclasses.replace(CHOICE, id=f"c{n}") for n in range(200)]
    shown = [presented(spec, row, seed=0, shuffle=True, candidates=20) for row in rows]
    assert all(row.choices[row.answer] == "gold" for row in shown)
    assert [row.answer for row in shown] == [presented(spec, row, seed=0, shuffle=True, candidates=20).answer for row in rows]
    assert [row.answer for row in shown] != [presented(spec, row, seed=1, shuffle=True, candidates=20).answer for row in rows]
    assert all(30 <= sum(row.answer == letter for row in shown) <= 70 for letter in range(4))
    assert presented(spec, CHOICE, seed=0, shuffle=False, candidates=20) is CHOICE


def drawn(row, count=20, seed=0):
    return presented(TASKS["rec_beauty"], row, seed=seed, shuffle=True, candidates=count)


def test_candidates_are_the_target_and_others_without_repetition_or_history():
    found = drawn(RANKING)
    assert len(set(found.choices)) == len(found.choices) == 20
    assert "m7" in found.choices
    assert not {"m1", "m2"} & set(found.choices)
    assert found == drawn(RANKING) != drawn(RANKING, seed=1)


def test_where_the_target_stands_says_nothing():
    rows = [dataclasses.replace(RANKING, id=f"u{n}") for n in range(400)]
    places = [drawn(row).choices.index("m7") for row in rows]
    assert abs(sum(places) / 400 - 9.5) < 1.0
    assert set(places) == set(range(20))


def test_all_candidates_are_those_the_user_has_not_had():
    assert set(drawn(RANKING, 0).choices) == {f"m{n}" for n in range(60)} - {"m1", "m2"}


def test_too_few_candidates_are_told():
    from xplearn import DataError

    with pytest.raises(DataError, match="rec_beauty/r: has fewer than 59 candidates"):
        drawn(RANKING, 60)
    assert len(drawn(RANKING, 58).choices) == 58
