"""Options: every way to say one, and every way to say none or two."""

from __future__ import annotations

import pytest
from xplearn_expbench.checkers import choice
from xplearn_expbench.spec import Row

from xplearn import DataError

CITIES = ("London", "Paris", "Rome", "A town in the north")


def judged(completion, answer=1, choices=CITIES):
    return choice.check(Row(id="r", question="?", answer=answer, choices=choices), completion)


@pytest.mark.parametrize(
    "completion",
    [
        "B",
        "b",
        "B.",
        "B)",
        "(B)",
        "(b).",
        "[B]",
        "**B**",
        "`B`",
        "B\n",
        "Answer: B",
        "ANSWER: (B)",
        "answer: b",
        "Answer: **B**",
        "**Answer: (B)**",
        "Answer:\nB",
        "Answer:\n- B",
        '{"answer": "B"}',
        "The answer is B",
        "The answer is (b).",
        "The correct answer is: B) Paris.",
        "The answer is most likely B.",
        "The answer is clearly option B",
        "#### B",
        r"\boxed{B}",
        r"\boxed{\text{B}}",
        r"\boxed{\text{(B)}}",
        r"Answer: $\boxed{B}$.",
        "Option B",
        "option b",
        "B. Paris",
        "B) paris",
        "(B) Paris",
        "B: Paris",
        "B - Paris",
        "Answer: b) Paris",
        "Paris",
        "paris.",
        "Answer: Paris",
        '"Paris"',
        "The answer is Paris.",
        "2",
        "2.",
        "(2)",
        "Answer: 2",
        "2. Paris",
        "B, because A is cold",
        "B because the other one (A) is cold",
        "B\nA is wrong because it is cold.",
        "B is correct. (A) is not.",
        "(B) is the answer",
        "I think of (B)",
        "A is cold.\nC is warm.\nSo it has to be option B, not the others",
        "Let us see.\nB",
        "Answer: A\nNo.\nAnswer: B",
        "Answer: B\n\nQuestion: And now?\nAnswer: C",
        "B\n\nQ: And now?\nA: C",
        "<think>It may be (A) or (C)</think>\nB",
        "```\nB\n```",
        "\u200fB\u202c",
        "B\x00",
        "\ufeffB",
        "\uff08B\uff09",
        "\uff22",
    ],
)
def test_these_mean_b(completion):
    verdict = judged(completion)
    assert (verdict.parsed, verdict.status, verdict.score) == ("B", "correct", 1.0)
    assert judged(completion, answer=2).status == "wrong"


@pytest.mark.parametrize(
    "completion",
    [
        "",
        " \n ",
        "Answer:",
        "<think>B",
        "B or C",
        "b or c",
        "B and C",
        "B, C",
        "B/C",
        "(A) and (B)",
        "Answer: (B) or (C)",
        "B. Rome",
        "Answer: B) London",
        "A\n…\nB",
        "A. London\nB. Paris\nC. Rome",
        "(A) is wrong, (B) is right",
        "Not clear.",
        "A town is a town",
        "Parisian",
        "London, Paris",
        "1. First, let us think.\n2. Then answer.",
        "2.5",
        "Beijing",
        "I don't know",
        "ABCD",
    ],
)
def test_these_mean_nothing_or_two_things(completion):
    verdict = judged(completion)
    assert (verdict.status, verdict.score, verdict.parsed) == ("unparsed", 0.0, "")


@pytest.mark.parametrize(("completion", "parsed"), [("E", "E"), ("(E)", "E"), ("Answer: Z", "Z"), ("5", "E"), ("0", "0"), ("99", "99")])
def test_what_is_beyond_the_options_is_read_and_wrong(completion, parsed):
    verdict = judged(completion)
    assert (verdict.status, verdict.parsed) == ("wrong", parsed)


def test_an_article_is_no_letter():
    assert judged("A town in the north", answer=3).status == "correct"
    assert judged("a town in the north.", answer=3).status == "correct"
    assert judged("A town in the south", answer=0).status == "unparsed"


def test_a_number_is_an_option_that_reads_so_before_it_is_a_place():
    numbers = ("4", "3", "2", "1")
    assert judged("2", answer=2, choices=numbers).status == "correct"
    assert judged("Answer: 4", answer=0, choices=numbers).status == "correct"
    assert judged("2", answer=1, choices=("10", "20", "30", "40")).status == "correct"
    assert judged("20", answer=1, choices=("10", "20", "30", "40")).parsed == "B"


def test_a_letter_is_a_label_before_it_is_an_option_that_reads_so():
    assert judged("B", answer=1, choices=("B", "A", "C", "D")).status == "correct"


def test_options_that_differ_in_a_dot_stay_apart():
    options = ("1.5", "15", "-1.5", "1,5")
    assert [judged(text, choices=options).parsed for text in options] == ["A", "B", "C", "D"]


def test_an_option_of_two_letters_is_read_as_that_option():
    options = ("Only A", "A and B", "B and C", "None")
    assert judged("A and B", choices=options).status == "correct"
    assert judged("Answer: B and C", answer=2, choices=options).status == "correct"


def test_options_of_signs_alone_are_told_apart():
    options = ("+", "-", "*", "/")
    assert judged("Answer: /", answer=3, choices=options).status == "correct"
    assert judged("+", answer=0, choices=options).status == "correct"


def test_two_options_that_read_alike_are_named_by_letter_only():
    options = ("Paris", "paris", "Rome")
    assert judged("Paris", choices=options).status == "unparsed"
    assert judged("B", choices=options).status == "correct"


def test_as_many_options_as_there_are_letters_are_read():
    assert judged("E", answer=4, choices=tuple("vwxyz")).status == "correct"
    assert judged("J", answer=9, choices=tuple(f"option {n}" for n in range(10))).status == "correct"


@pytest.mark.parametrize(("answer", "choices"), [(4, CITIES), (-1, CITIES), ("B", CITIES), (True, CITIES), (None, CITIES), (0, ())])
def test_a_row_without_a_right_option_is_refused_by_name(answer, choices):
    with pytest.raises(DataError, match="row-7"):
        choice.check(Row(id="row-7", question="?", answer=answer, choices=choices), "B")
