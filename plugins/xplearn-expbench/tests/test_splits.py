from __future__ import annotations

import dataclasses

import pytest
from xplearn_expbench.spec import Row
from xplearn_expbench.splits import assigned, hashed, normalised, place, sampled


def rows(count, split=""):
    return [Row(id=f"{split}{n}", question=f"What is {n}?", answer=str(n), split=split) for n in range(count)]


def shares(found):
    return {split: sum(row.split == split for row in found) / len(found) for split in ("train", "dev", "test")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who wrote Faust?", "who  wrote faust"),
        ("“Who wrote Faust?”", "Who wrote Faust."),
        ("Who\twrote\nFaust ?", "Who wrote Faust"),
        ("Ｗｈｏ wrote Faust?", "Who wrote Faust?"),
    ],
)
def test_case_spacing_width_and_end_marks_do_not_make_another_question(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), [("What is 1.5 × 2?", "What is 15 × 2?"), ("What is x-y?", "What is x+y?"), ("a b", "ab")])
def test_marks_inside_a_question_count(one, other):
    assert normalised(one) != normalised(other)


def test_the_place_of_a_question_is_the_same_for_ever():
    assert [round(place(text), 6) for text in ("Who wrote Faust?", "who wrote faust")] == [0.590596, 0.590596]


def test_hashed_splits_have_about_their_shares_and_ignore_the_other_rows():
    found = assigned(rows(4000), "source", 0.3, 0.1)
    assert shares(found) == pytest.approx({"train": 0.6, "dev": 0.1, "test": 0.3}, abs=0.03)
    assert assigned(rows(4000)[::7], "source", 0.3, 0.1) == found[::7]


def test_equal_questions_fall_into_one_split():
    one, other = (Row(id="a", question=question, answer="x") for question in ("Who wrote Faust?", "who wrote FAUST"))
    assert hashed(one, 0.3, 0.1) == hashed(other, 0.3, 0.1)


def test_rows_of_one_group_fall_into_one_split():
    made = [Row(id=str(n), question=f"What is {n}?", answer="x", meta={"group": f"template {n % 40}"}) for n in range(400)]
    found = assigned(made, "source", 0.3, 0.1)
    assert all(len({row.split for row in found[n::40]}) == 1 for n in range(40))
    assert {row.split for row in found} == {"train", "dev", "test"}


def test_all_may_be_for_testing_or_none():
    assert shares(assigned(rows(50), "source", 1.0, 0.0))["test"] == 1.0
    assert shares(assigned(rows(50), "source", 0.0, 0.0))["train"] == 1.0


def test_the_sources_splits_stay_unless_the_hash_is_asked_for():
    given = rows(40, "train") + rows(20, "test")
    assert assigned(given, "source", 0.3, 0.1) == given
    assert {row.split for row in assigned(given, "hash", 0.3, 0.1)} == {"train", "dev", "test"}


def test_dev_is_the_test_where_a_source_publishes_no_other():
    assert {row.split for row in assigned(rows(9, "train") + rows(9, "dev"), "source", 0.3, 0.1)} == {"train", "test"}
    assert {row.split for row in assigned(rows(9, "dev"), "source", 0.3, 0.1)} == {"test"}
    assert {row.split for row in assigned(rows(9, "dev") + rows(9, "test"), "source", 0.3, 0.1)} == {"dev", "test"}


def test_a_sample_has_the_asked_size_and_each_split_its_share():
    found = sampled(rows(700, "train") + rows(101, "dev") + rows(299, "test"), 110, 0, "t")
    assert len(found) == 110
    assert shares(found) == pytest.approx({"train": 70 / 110, "dev": 10 / 110, "test": 30 / 110})


def test_a_sample_is_kept_in_order_and_drawn_by_its_seed_and_task():
    everything = rows(300, "train")
    found = sampled(everything, 30, 0, "t")
    assert found == [row for row in everything if row in found]
    assert sampled(everything[::-1], 30, 0, "t") == found[::-1]
    assert sampled(everything, 30, 1, "t") != found
    assert sampled(everything, 30, 0, "u") != found
    assert sampled(everything, 300, 0, "t") == sampled(everything, None, 0, "t") == everything


def test_a_sample_smaller_than_the_splits_is_filled_from_the_largest():
    few = [dataclasses.replace(row, split=split) for row, split in zip(rows(3), ("train", "dev", "test"), strict=True)]
    assert len(sampled(few, 1, 0, "t")) == 1
