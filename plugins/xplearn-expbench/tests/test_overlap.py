from __future__ import annotations

import dataclasses

import pytest
from xplearn_expbench.overlap import identity, separated
from xplearn_expbench.spec import Row

from xplearn import DataError


def row(id, question, split, answer="x", **more):
    return Row(id=id, question=question, answer=answer, split=split, **more)


def test_a_question_stays_in_test_alone_then_in_dev():
    rows = [
        row("a", "Who?", "train"),
        row("b", "who", "dev"),
        row("c", " WHO? ", "test"),
        row("d", "Why?", "train"),
        row("e", "why?", "dev"),
    ]
    found = separated(rows, "qa", "drop", "here")
    assert [kept.id for kept in found.rows] == ["c", "e"]
    assert [dropped.id for dropped in found.dropped] == ["a", "b", "d"]


def test_repetitions_within_a_split_stay():
    rows = [row("a", "Who?", "test"), row("b", "Who?", "test")]
    assert separated(rows, "qa", "refuse", "here").rows == rows


def test_a_training_file_that_holds_every_test_row_loses_them_all():
    test = [row(f"t{n}", f"Question {n}?", "test") for n in range(164)]
    found = separated([dataclasses.replace(r, id=f"x{r.id}", split="train") for r in test] + test, "code", "drop", "here")
    assert (found.rows, len(found.dropped)) == (test, 164)


def test_refusing_names_the_first_and_counts_all():
    rows = [row(f"{split}{n}", f"Question {n}?", split) for split in ("train", "test") for n in range(5)]
    with pytest.raises(DataError, match=r"mixed\.jsonl: 5 questions .*'train0' of train, 'train1' of train, .*overlap=drop"):
        separated(rows, "qa", "refuse", "mixed.jsonl")


def test_a_general_question_about_other_options_is_another():
    common = {"question": "Which of these is true?", "split": "test"}
    one = row("a", answer=0, choices=("Iron rusts.", "Gold rusts."), **common)
    same = row("b", answer=1, choices=("Tin sings.", "iron rusts"), **common)
    other = row("c", answer=1, choices=("Iron rusts.", "Water flows."), **common)
    assert identity("choice", one) == identity("choice", same) != identity("choice", other)


def test_users_with_the_same_history_and_another_target_are_others():
    one, other = (row("u", "Saw: A.", "test", answer=target, choices=("B", "C")) for target in "BC")
    assert identity("ranking", one) != identity("ranking", other)


def test_in_chemistry_case_tells_molecules_apart():
    cyclohexane, benzene = row("a", "Is  C1CCCCC1 flat?", "train"), row("b", "Is c1ccccc1 flat?", "test")
    assert identity("chemistry", cyclohexane) != identity("chemistry", benzene)
    assert identity("chemistry", cyclohexane) == identity("chemistry", row("c", "Is C1CCCCC1 flat?", "test"))
    assert identity("qa", cyclohexane) == identity("qa", row("c", "is c1ccccc1 flat", "test"))
