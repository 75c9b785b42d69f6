"""Orders of candidates: how they are written, and where the target stands."""

from __future__ import annotations

import math

import pytest
from xplearn_expbench.checkers import ranking
from xplearn_expbench.spec import Row

from xplearn import DataError

FILMS = ("Alien", "The Matrix", "Good, the Bad and the Ugly, The", "The Matrix Reloaded", "2. Fall > Rise", "Heat | Cold")


def judged(completion, answer="The Matrix", choices=FILMS):
    return ranking.check(Row(id="r", question="?", answer=answer, choices=choices), completion)


def order(completion, **row):
    return judged(completion, **row).parsed.split("\n")


@pytest.mark.parametrize(
    "completion",
    [
        "Alien\nThe Matrix",
        "alien\n  the   matrix  \n",
        "Alien\r\nThe Matrix\r\n",
        "1. Alien\n2. The Matrix",
        "1) Alien\n2) The Matrix",
        "(1) Alien\n(2) The Matrix",
        "[1] Alien\n[2] The Matrix",
        "- Alien\n- The Matrix",
        "* **Alien**\n* *The Matrix*",
        '"Alien"\n"The Matrix"',
        "Here is my order:\n\n1. Alien\n2. The Matrix\n\nI hope it helps.",
        '["Alien", "The Matrix"]',
        '```json\n["Alien", "The Matrix"]\n```',
        'My order is ["Alien",\n"The Matrix"].',
        "Alien, The Matrix",
        "Alien; The Matrix",
        "Alien > The Matrix",
        "Alien | The Matrix",
        "[1] Alien > [2] The Matrix",
        '1) "Alien", 2) "The Matrix"',
        "Alien\nAlien\nThe Matrix\nAlien",
        "Alien\nJaws\nThe Matrix",
        "<think>The Matrix</think>Alien\nThe Matrix",
        "\u200fAlien\nThe\x00 Matrix",
        "Answer: Alien, The Matrix",
        "Answer: Alien\nThe Matrix",
        "My ranking is: Alien > The Matrix",
        "1.Alien\n2.The Matrix",
        "#1 Alien\n#2 The Matrix",
        "['Alien', 'The Matrix']",
        "{'ranking': ['Alien', 'The Matrix']}",
        'Answer: ["Alien", "The Matrix"]',
        '["Alien"]\nThe Matrix',
        'Alien\n["The Matrix"]',
        "Alien, Jaws, The Matrix",
        "Alien, The Matrix, The Matr",
    ],
)
def test_the_target_is_second_in_these(completion):
    verdict = judged(completion)
    assert order(completion) == ["Alien", "The Matrix"]
    assert (verdict.status, verdict.score) == ("wrong", pytest.approx(1 / math.log2(3)))
    assert verdict.parts == {"ndcg@10": verdict.score, "hr@10": 1.0, "mrr": 0.5}


def test_candidates_that_hold_the_signs_of_a_list_are_read_whole():
    assert order("Alien, Good, the Bad and the Ugly, The, The Matrix") == ["Alien", FILMS[2], "The Matrix"]
    assert order("2. Fall > Rise\nAlien") == [FILMS[4], "Alien"]
    assert order("1. 2. Fall > Rise\n2. Alien") == [FILMS[4], "Alien"]
    assert order("Heat | Cold | Alien") == ["Heat | Cold", "Alien"]


def test_a_title_that_begins_as_a_marker_does_is_read_whole():
    films = ("Order of Wolves", "Answer: Love", "Alien")
    assert order("Order of Wolves, Answer: Love, Alien", answer="Alien", choices=films) == list(films)
    assert order("Answer: Love\nAlien", answer="Alien", choices=films) == ["Answer: Love", "Alien"]


def test_a_longer_title_is_not_the_one_that_it_begins_with():
    assert order("The Matrix Reloaded") == ["The Matrix Reloaded"]
    assert judged("The Matrix Reloaded").score == 0.0
    assert judged("I like The Matrix").status == "unparsed"


@pytest.mark.parametrize("place", range(1, 21))
def test_figures_are_those_of_the_place(place):
    items = [f"film {number}" for number in range(20)]
    verdict = judged("\n".join(items), answer=items[place - 1], choices=tuple(reversed(items)))
    inside = place <= 10
    assert verdict.score == verdict.parts["ndcg@10"] == pytest.approx(1 / math.log2(place + 1) if inside else 0.0)
    assert verdict.parts["hr@10"] == float(inside)
    assert verdict.parts["mrr"] == pytest.approx(1 / place)
    assert verdict.status == ("correct" if place == 1 else "wrong")


def test_places_are_counted_without_repeats_and_unknown_names():
    verdict = judged("Alien\nAlien\nNonsense\nThe Matrix")
    assert verdict.parts["mrr"] == 0.5


def test_a_target_that_is_not_named_has_no_place():
    verdict = judged("Alien\nThe Matrix Reloaded")
    assert (verdict.status, verdict.score, dict(verdict.parts)) == ("wrong", 0.0, {"ndcg@10": 0.0, "hr@10": 0.0, "mrr": 0.0})


PROSE = (
    "The following are worse: The Matrix, Alien",
    "The following are worse:\nThe Matrix\nAlien",
    "I would not choose these:\n1. The Matrix\n2. Alien",
    'I refuse ["The Matrix"] is not my answer',
    'Anything but ["The Matrix"]',
    '["The Matrix"] is wrong',
    "I saw Alien, The Matrix",
    "The Matrix, which I hate",
    "The Matrix, Alien are worse",
    "not The Matrix",
    "Anything but The Matrix",
)


@pytest.mark.parametrize("completion", ["", " \n", "Nonsense", "[1, 2]", "[]", "1\n2", "[[[[", "Jaws, Ran", *PROSE])
def test_nothing_named_is_unparsed(completion):
    verdict = judged(completion)
    assert (verdict.status, verdict.score, verdict.parts["mrr"]) == ("unparsed", 0.0, 0.0)


def test_a_row_without_its_target_is_refused_by_name():
    with pytest.raises(DataError, match="row-7: the target 'Jaws' is not among"):
        ranking.check(Row(id="row-7", question="?", answer="Jaws", choices=FILMS), "Alien")


def test_candidates_that_read_alike_are_refused():
    with pytest.raises(DataError, match="row-7: two of the row's candidates read alike"):
        ranking.check(Row(id="row-7", question="?", answer="Alien", choices=("Alien", "alien ")), "Alien")
