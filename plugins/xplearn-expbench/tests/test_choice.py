"""Options: every way to say one, and every way to say none or two."""

from __future__ import annotations

import time

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
        "<B>",
        "B!",
        "B (Paris)",
        "Answer: B (Paris)",
        "Answer: B Paris",
        "The answer is Paris, because it is warm",
        "Answer: Paris because London is cold",
        "Answer: It is Paris",
        "It must be B.",
        "B, not A",
        "B. Not the others",
        "Answer: B) is correct",
        "A is not right, so B",
        "Answer: A is wrong; it is B",
        "{'answer': 'B'}",
        "option 2",
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
        "Answer: not B",
        "The answer is not B.",
        "The answer is definitely not B",
        "Answer: neither A nor B",
        "Answer: anything but B",
        "Answer: all but B",
        "Answer: everything except (B)",
        "Answer: B is wrong",
        "Answer: (B) is wrong",
        "Option B is incorrect.",
        "Option B isn't right",
        "It can't be (B).",
        "It cannot be B",
        "I don't think it is B",
        "I doubt it is (B)",
        "Rule out B",
        "Eliminate (B)",
        "B? No.",
        "B. No, wait.",
        "Answer: B. That is wrong.",
        "Answer: B: incorrect",
        "Answer: not Paris",
        "Answer: Paris is wrong",
        "Answer: B?",
        "Answer: A C D B",
        "Answer: B A C D",
        "Answer: b a c d",
        "Answer: (B)(A)(C)(D)",
        "Answer: B. A. C. D.",
        "Answer: B) A) C) D)",
        "Answer: B; A; C; D",
        "Answer: B, or maybe A",
        "Answer: B, or maybe London",
        "Answer: B or London",
        "Answer: both A and B",
        "Answer: B as well as A",
        "Answer: B -> A",
        "Answer: B... no wait, A",
        "Answer: A. No, B",
        "Either B",
        "A: London, B: Paris, C: Rome",
        "Answer: A. London B. Paris C. Rome",
        "Answer: B (London)",
        "Answer: B London",
        "Answer: hepatitis B",
        "2. Rome",
        "2 or 3",
        "not 2",
        "Answer: \u0130 or so",
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
    assert judged("2", answer=1, choices=("10", "20", "30", "40")).status == "unparsed"
    assert judged("20", answer=1, choices=("10", "20", "30", "40")).parsed == "B"


@pytest.mark.parametrize("completion", ["2", "Answer: 2", "Answer: 2.", "(2)", "option 2", "Answer: 5"])
@pytest.mark.parametrize("choices", [("4", "6", "8", "10"), ("4 legs", "six", "8 legs", "ten"), ("$4", "$6", "$8", "none")])
def test_among_options_with_numbers_a_number_is_never_a_place(completion, choices):
    assert judged(completion, choices=choices).status == "unparsed"


def test_a_letter_is_a_label_before_it_is_an_option_that_reads_so():
    letters = ("B", "C", "A", "D")
    assert judged("Answer: B", answer=1, choices=letters).status == "correct"
    assert judged("Answer: B", answer=0, choices=letters).status == "wrong"
    assert judged("Answer: B. C", answer=1, choices=letters).status == "correct"
    assert judged("Answer: A. A", answer=0, choices=letters).status == "unparsed"


def test_a_letter_that_labels_nothing_is_the_option_that_reads_so():
    assert judged("Answer: x", answer=1, choices=("w", "x", "y", "z")).status == "correct"
    assert judged("Answer: X", answer=1, choices=("x", "x", "y")).status == "unparsed"


def test_an_option_is_compared_as_written_before_its_dollar_signs_go():
    prices = ("$3", "$4", "$6", "$12")
    assert judged("Answer: $4", answer=1, choices=prices).status == "correct"
    assert judged("Answer: D. $12", answer=3, choices=prices).status == "correct"
    assert judged("Answer: $4", answer=1, choices=("4", "$4")).status == "correct"
    assert judged("Answer: 4", answer=0, choices=("4", "$4")).status == "correct"
    assert judged("Answer: x^2", answer=1, choices=("$x$", "$x^2$")).status == "correct"


def test_an_option_that_denies_is_an_option():
    assert judged("Answer: not B", choices=("a", "not B", "c")).status == "correct"
    assert judged("Answer: B. No change", choices=("Growth", "No change", "Decay")).status == "correct"


def test_an_option_that_begins_as_an_answer_does_is_read_whole():
    options = ("it is pulled over", "pulled over", "it is slow", "none")
    for completion in ("A (it is pulled over)", "it is pulled over", "The answer is it is pulled over, because it speeds"):
        assert judged(completion, answer=0, choices=options).status == "correct"


def test_letters_in_the_text_of_an_option_are_no_labels():
    vitamins = ("Vitamin B", "Vitamin A", "Vitamin C", "Iron")
    assert judged("Answer: B. Vitamin A", choices=vitamins).status == "correct"
    assert judged("Answer: Vitamin A", choices=vitamins).status == "correct"
    assert judged("Answer: B, Vitamin A, it is good", choices=vitamins).status == "correct"
    assert judged("Answer: A. Vitamin A", choices=vitamins).status == "unparsed"


@pytest.mark.parametrize("piece", [" ", ".", ",", "B ", "B.", "(B)", "no ", "and ", "\n", "A B C ", "because "])
def test_long_answers_are_read_in_no_time(piece):
    started = time.perf_counter()
    judged(f"Answer: B{piece * 20_000}x")
    judged(f"B\nx{piece * 20_000}x")
    assert time.perf_counter() - started < 25


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
    assert judged("Answer: option 40", answer=0, choices=tuple("many " * n for n in range(40))).parsed in ("", "40")
    assert judged("J", answer=9, choices=tuple(f"option {n}" for n in range(10))).status == "correct"


@pytest.mark.parametrize(("answer", "choices"), [(4, CITIES), (-1, CITIES), ("B", CITIES), (True, CITIES), (None, CITIES), (0, ())])
def test_a_row_without_a_right_option_is_refused_by_name(answer, choices):
    with pytest.raises(DataError, match="row-7"):
        choice.check(Row(id="row-7", question="?", answer=answer, choices=choices), "B")
