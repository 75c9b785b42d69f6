"""Short answers: what counts, what doesn't, and how much of it there was."""

from __future__ import annotations

import pytest
from xplearn_expbench.checkers import qa
from xplearn_expbench.spec import Row

from xplearn import DataError

TWAIN = ["Mark Twain", "Samuel Clemens", "Twain, Mark"]


def judged(completion, *accepted):
    return qa.check(Row(id="r", question="?", answer=list(accepted)), completion)


@pytest.mark.parametrize(
    ("completion", "accepted"),
    [
        ("Paris", ["Paris"]),
        ("paris.", ["Paris"]),
        ("The Paris!", ["Paris"]),
        ("Paris", ["the Paris"]),
        ("Paris\nIt is the capital of France.", ["Paris"]),
        ("\n\n  Paris", ["Paris"]),
        ("Answer: Paris", ["Paris"]),
        ("answer : Paris", ["Paris"]),
        ("**Answer:** Paris", ["Paris"]),
        ("Answer: **Paris**", ["Paris"]),
        ("Answer:\nParis", ["Paris"]),
        ("Answer:\n- Paris", ["Paris"]),
        ("I think of France.\nAnswer: Paris", ["Paris"]),
        ("The answer is Paris.", ["Paris"]),
        ("the final answer is: Paris", ["Paris"]),
        ('{"answer": "Paris"}', ["Paris"]),
        ("Answer: London. No.\nAnswer: Paris", ["Paris"]),
        ("Answer: Paris\n\nQuestion: Capital of Italy?\nAnswer: Rome", ["Paris"]),
        ("Paris\n\nQ: Capital of Italy?\nA: Rome", ["Paris"]),
        ("Question: Capital of France?\nAnswer: Paris", ["Paris"]),
        ("Paris<|im_end|>\nAnswer: Rome", ["Paris"]),
        ("<think>Is it London? Answer: London</think>\nParis", ["Paris"]),
        ("```\nParis\n```", ["Paris"]),
        ("`Paris`", ["Paris"]),
        ("“Paris”", ["Paris"]),
        ("\u202bParis\u202c\u200f", ["Paris"]),
        ("Pa\x00ris", ["Paris"]),
        ("Paris\r\nFrance", ["Paris"]),
        ("samuel clemens", TWAIN),
        ("twain mark", TWAIN),
        ("O’Neil", ["O'Neil"]),
        ("Cafe\u0301", ["Café"]),
        ("1939-1945", ["1939–1945"]),
        ("1.5", ["1.5"]),
        ("yes", ["Yes"]),
        ("Answer: No.", ["no"]),
        ("!!!", ["!!!"]),
        ("Answer: *", ["the symbol ×", "*"]),
        ("*", ["*"]),
        ("the the", ["The The"]),
    ],
)
def test_these_are_right(completion, accepted):
    verdict = judged(completion, *accepted)
    assert (verdict.score, verdict.status, verdict.parts["f1"]) == (1.0, "correct", 1.0)


@pytest.mark.parametrize(
    ("completion", "accepted", "f1"),
    [
        ("London, Paris, Rome", ["Paris"], 0.5),
        ("It is Paris", ["Paris"], 0.5),
        ("Parisian", ["Paris"], 0.0),
        ("Answer: Paris\nAnswer: London", ["Paris"], 0.0),
        ("Rome\n\nQuestion: Capital of France?\nAnswer: Paris", ["Paris"], 0.0),
        ("<think>Paris</think>London", ["Paris"], 0.0),
        ("Twain", TWAIN, 2 / 3),
        ("December 14, 1972", ["14 December 1972 UTC", "December 1972"], 6 / 7),
        ("new new york", ["new york new"], 1.0),
        ("new york york", ["new new york"], 2 / 3),
        ("yes", ["no"], 0.0),
        ("no", ["yes"], 0.0),
        ("yes, they are", ["yes"], 0.0),
        ("yes", ["yes they are"], 0.0),
        ("noanswer", ["no answer"], 0.0),
        ("???", ["!!!"], 0.0),
        ("Answer: `", ["*"], 0.0),
        ("**", ["Paris"], 0.0),
        ("the", ["The The"], 0.0),
        ("...", ["Paris"], 0.0),
        ("the", ["Paris"], 0.0),
        ("cafe", ["Café"], 0.0),
    ],
)
def test_these_are_wrong_and_f1_says_how_wrong(completion, accepted, f1):
    verdict = judged(completion, *accepted)
    assert (verdict.score, verdict.parts["em"]) == (0.0, 0.0)
    assert verdict.parts["f1"] == pytest.approx(f1)


@pytest.mark.parametrize("completion", ["", "   \n\t", "\x00\u200f", "Answer:", "```\n```", "<think>Paris", "Answer:\n\n"])
def test_nothing_said_is_unparsed(completion):
    verdict = judged(completion, "Paris")
    assert (verdict.status, verdict.score, verdict.parsed) == ("unparsed", 0.0, "")
    assert judged(completion, "!!!").score == 0.0


def test_a_list_of_everything_is_no_answer():
    everything = " ".join(f"city{number}" for number in range(qa.LONGEST_WORDS))
    assert judged(f"{everything} Paris", "Paris").status == "unparsed"
    assert judged(" ".join(everything.split()[1:]) + " Paris", "Paris").parts["f1"] == pytest.approx(2 / (qa.LONGEST_WORDS + 1))


def test_the_primary_answer_is_told_apart_from_aliases():
    assert judged("Mark Twain", *TWAIN).parts["em_primary"] == 1.0
    by_alias = judged("Samuel Clemens", *TWAIN)
    assert (by_alias.parts["em"], by_alias.parts["em_primary"]) == (1.0, 0.0)


def test_f1_is_the_best_over_all_answers_and_not_below_the_exact_match():
    assert judged("Samuel Langhorne Clemens", *TWAIN).parts["f1"] == pytest.approx(0.8)
    assert judged("!!!", "???", "!!!").parts == {"em": 1.0, "f1": 1.0, "em_primary": 0.0}


@pytest.mark.parametrize("answer", [[], None, ["Paris", 3], ["Paris", " "], {"a": 1}])
def test_a_row_without_accepted_answers_is_refused_by_name(answer):
    with pytest.raises(DataError, match="row-7"):
        qa.check(Row(id="row-7", question="?", answer=answer), "Paris")
