"""Question answering about the invented archipelago and about what everybody knows.

Most test questions ask, in other words, for a fact that a training question asked for: experience helps. Others ask for names never met
whose ending tells the answer, for two facts joined, or for what everybody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xplearn_expbench.mini import tables, wordings
from xplearn_expbench.mini.asking import About, finished, pooled, qa
from xplearn_expbench.mini.draw import shuffled
from xplearn_expbench.mini.world import Fact
from xplearn_expbench.spec import Row


def nq_open() -> list[Row]:
    """Short questions as typed into a search box: lower case, no question mark."""
    known = pooled(
        "town.river", "town.craft", "town.founder", "animal.food", "herb.ailment", "material.colour", "tool.material", key="nq_open"
    )
    ruled = pooled("animal.kind", "material.kind", key="nq_open")
    rows = [*_met(known, train=140, test=66), *_ruled(ruled, train=42, test=18)]
    rows += _everyday(("opposite", "next", "count", "source", "material"), train=40, test=40)
    return finished("nq_open", [_typed(row) for row in rows])


def trivia_qa() -> list[Row]:
    """Quiz questions that lead to a name; each with the other forms in which it may be given, the full one first."""
    known = pooled("byname.person", "book.author", "founder.town", "person.trade", "tool.trade", key="trivia_qa")
    rows = [*_met(known, train=190, test=90), *_everyday(("young", "sense", "home", "sound", "colour", "country"), train=45, test=42)]
    return finished("trivia_qa", rows)


def popqa() -> list[Row]:
    """Questions of one form a relation about people and places few have heard of, and some that many have."""
    known = pooled("person.birthplace", "person.book", "person.byname", "herb.season", "animal.island", key="popqa")
    rows = [*_met(known, train=150, test=68), *_ruled(pooled("town.island", key="popqa"), train=32, test=16)]
    rows += _everyday(("capital", "language"), train=36, test=32)
    return finished("popqa", rows)


def _met(known: Sequence[Fact], *, train: int, test: int) -> Iterator[Row]:
    """Facts asked for in training, and some of them again, in other words, in the test."""
    for fact in known[:train]:
        yield qa(wordings.ask(fact, 0), fact.answers, About(split="train", level=2, fact=fact.name))
    for fact in known[:test]:
        yield qa(wordings.ask(fact, 1), fact.answers, About(split="test", level=2, fact=fact.name))


def _ruled(known: Sequence[Fact], *, train: int, test: int) -> Iterator[Row]:
    """Facts that the ending of a name tells: other names in the test than in training."""
    for split, group in (("train", known[:train]), ("test", known[train : train + test])):
        for fact in group:
            yield qa(wordings.ask(fact, 0), fact.answers, About(split=split, level=3, fact=fact.name))


def _everyday(relations: Sequence[str], *, train: int, test: int) -> Iterator[Row]:
    """What everybody knows: other questions in the test than in training."""
    known = tables.read("everyday.txt")
    asked = shuffled([(known[relation], fact) for relation in relations for fact in known[relation].facts], "everyday", *relations)
    for split, group in (("train", asked[:train]), ("test", asked[train : train + test])):
        for table, fact in group:
            yield qa(table.ask(fact), table.accepted(fact), About(split=split, level=1, fact=fact.name))


def _typed(row: Row) -> Row:
    return Row(id=row.id, question=row.question.lower().rstrip("?"), answer=row.answer, split=row.split, meta=row.meta)
