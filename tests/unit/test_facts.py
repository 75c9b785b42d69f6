import dataclasses

from tests.unit import pieces
from xplearn.report.figure import Fact, Section
from xplearn.report.page.facts import BASE, HARNESS, facts, words
from xplearn.report.page.markup import Part, markup


def by_label(board):
    return {fact.label: fact for fact in facts(board)}


def test_a_board_is_told_in_a_few_facts_each_a_value_and_half_a_sentence():
    found = by_label(pieces.board(["hamo", "edge"]))
    assert list(found) == ["Best", "Detectable", "Negative transfer"]
    assert found["Best"].value == "hamo+Harness"
    assert found["Detectable"].value == "4.2 points"
    assert all(len(fact.value) < 20 and len(fact.note) < 100 for fact in found.values())


def test_what_is_not_known_is_no_fact_and_where_nobody_is_best_it_says_so():
    board = pieces.board(["hamo", "edge"], detectable=None)
    bare = dataclasses.replace(board, standings=tuple(dataclasses.replace(of, versus_base=None) for of in board.standings))
    assert list(by_label(bare)) == ["Best"]
    assert by_label(pieces.tied(bare))["Best"].value == "none"
    assert by_label(pieces.board(["hamo"], arms=False, detectable=None)) == {}


def test_negative_transfer_counts_contenders_and_names_the_worst():
    board = pieces.board(["hamo", "grpo"])
    worse = [(of.versus_base.worse, of.contender.name) for of in board.standings if of.versus_base.worse]
    fact = by_label(board)["Negative transfer"]
    assert fact.value == f"{len(worse)} of {len(board.standings)}"
    assert f"{max(worse)[1]} on the most, {max(worse)[0]} of 160" in fact.note


def test_words_are_explained_where_they_are_used():
    assert list(words(pieces.board(["hamo"]).standings)) == [BASE, HARNESS]
    assert list(words(pieces.board(["hamo"], arms=False).standings)) == [BASE]


def test_facts_are_text_whatever_they_hold():
    section = Section(name="a", title="t", lead="", pieces=[], facts=[Fact(pieces.HOSTILE, pieces.HOSTILE, pieces.HOSTILE)])
    made = markup(Part(section=section))
    assert "<script>" not in made
    assert made.count("<dt>") == made.count("<dd>") == 1
