"""Multiple choice: ARC-like, CommonsenseQA-like, MMLU-like and OpenBookQA-like rows.

Chance is a quarter, a fifth in ``commonsense_qa``. Of the test, some rows ask in other words for what training told, some hold all they
need, some are known to everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xplearn_expbench.mini import names, nature, tables, wordings
from xplearn_expbench.mini.asking import About, choice, finished, pooled
from xplearn_expbench.mini.draw import shuffled
from xplearn_expbench.mini.tables import Table
from xplearn_expbench.mini.world import Fact, facts, objects
from xplearn_expbench.spec import Row

_RULED = ("town.island", "animal.kind", "material.kind")
"""Relations that the ending of a name tells."""

_PLAIN = ("animal.hours", "herb.season", "town.craft")
"""Relations whose consequences are said almost in the same words."""


def arc_challenge() -> list[Row]:
    """Science with four options: school knowledge, short stories to reason about, and uses of invented materials and animals."""
    return finished("arc_challenge", [*_school(), *_stories(train=18, test=8), *_materials(), *_bodies()])


def commonsense_qa() -> list[Row]:
    """Everyday life with five options, and things of the invented world."""
    known = pooled("tool.task", "tool.trade", "animal.food", "herb.ailment", "material.property", "town.craft", key="commonsense_qa")
    return finished("commonsense_qa", [*_things(), *_known(known, train=150, test=70, options=5)])


def mmlu() -> list[Row]:
    """Lessons about the invented world, ``meta["subject"]``, and one of general knowledge; four options."""
    known = pooled(*(relation for relation in facts() if relation not in _RULED), key="mmlu")
    rows = [*_known(known, train=200, test=80, options=4), *_ruled(pooled(*_RULED, key="mmlu"), train=40, test=24)]
    return finished("mmlu", [*rows, *_general(train=30, test=20)])


def openbook_qa() -> list[Row]:
    """A fact is told and its consequence asked, with four options."""
    hints = tables.read("hints.txt")
    known = [fact for fact in pooled(*hints, key="openbook_qa") if any(fact.answer == hint.subject for hint in hints[fact.relation].facts)]
    train, again, new = known[:165], known[:50], known[165:225]
    rows = [_told(fact, hints[fact.relation], turn, "train") for turn, group in ((0, train), (2, known[110:165])) for fact in group]
    return finished("openbook_qa", [*rows, *(_told(fact, hints[fact.relation], 1, "test") for fact in [*again, *new])])


def _known(known: Sequence[Fact], *, train: int, test: int, options: int) -> Iterator[Row]:
    for split, turn, group in (("train", 0, known[:train]), ("test", 1, known[:test])):
        for fact in group:
            yield _asked(fact, turn, About(split=split, level=2, fact=fact.name, subject=wordings.lesson(fact)), options=options)


def _ruled(known: Sequence[Fact], *, train: int, test: int) -> Iterator[Row]:
    for split, group in (("train", known[:train]), ("test", known[train : train + test])):
        for fact in group:
            yield _asked(fact, 0, About(split=split, level=3, fact=fact.name, subject=wordings.lesson(fact)), options=4)


def _asked(fact: Fact, turn: int, about: About, *, options: int) -> Row:
    return choice(wordings.ask(fact, turn), fact.answer, objects(fact.relation), about, options=options)


def _general(*, train: int, test: int) -> Iterator[Row]:
    known = tables.read("everyday.txt")
    asked = shuffled(
        [(known[relation], fact) for relation in ("capital", "language", "young") for fact in known[relation].facts], "general"
    )
    for split, group in (("train", asked[:train]), ("test", asked[train : train + test])):
        for table, fact in group:
            about = About(split=split, level=1, fact=fact.name, subject="general knowledge")
            yield choice(table.ask(fact), fact.answer, table.objects(), about, options=4)


def _things() -> Iterator[Row]:
    """Things of every day: asked from one side in training, some from the other side in the test."""
    known = tables.read("objects.txt")
    for relation, table in known.items():
        group = shuffled(table.facts, "things", relation)
        held = len(group) // 6
        for fact in group[held:]:
            yield choice(table.ask(fact), fact.answer, table.objects(), About(split="train", level=1, fact=fact.name), options=5)
        for fact in group[:held]:
            yield choice(table.ask(fact), fact.answer, table.objects(), About(split="test", level=1, fact=fact.name), options=5)
        for fact in group[held : 3 * held] if "{o}" in table.wordings[1] else ():
            things = [other.subject for other in table.facts]
            yield choice(table.ask(fact, 1), fact.subject, things, About(split="test", level=1, fact=fact.name), options=5)


def _told(fact: Fact, hint: Table, turn: int, split: str) -> Row:
    told = wordings.tell(fact, turn)
    question = f"{told} {hint.wordings[(turn + 1) // 2 % 2].format(s=fact.subject)}"
    return choice(
        question,
        hint.answer(fact.answer),
        hint.objects(),
        About(split=split, level=1 if fact.relation in _PLAIN else 3, fact=fact.name),
        options=4,
    )


def _school() -> Iterator[Row]:
    lines = shuffled(tables.lines("science.txt"), "school")
    held = len(lines) // 3
    for place, (question, (right, *wrong)) in enumerate(lines):
        yield choice(
            question, right, wrong, About(split="test" if place < held else "train", level=1, fact=f"school:{question}"), options=4
        )


def _stories(*, train: int, test: int) -> Iterator[Row]:
    for kind in nature.KINDS:
        asked = {made[0]: made for made in (kind(kind.__name__, turn) for turn in range(4 * (train + test)))}
        for place, (question, right, wrong) in enumerate(list(asked.values())[: train + test]):
            about = About(split="train" if place < train else "test", level=3, subject=kind.__name__)
            yield choice(question, right, wrong, about, options=4)


def _materials() -> Iterator[Row]:
    """Which material meets a need: the property in plain words and one need in training, another need in the test."""
    needs = dict(tables.lines("scenes.txt"))
    who = zip(shuffled(names.people(), "customers"), shuffled(names.towns(), "markets"), strict=False)
    for fact, (customer, market) in zip(facts()["material.property"], who, strict=False):
        first, second = shuffled(needs[fact.answer], "needs", fact.name)
        others = [other.subject for other in facts()["material.property"] if other.answer != fact.answer]
        for split, question in (
            ("train", f"In {market} only these four materials are sold. Which of them {fact.answer}?"),
            ("train", f"{customer} {first}. Which material should it be?"),
            ("test", f"{customer} {second}. Which material is the right one?"),
        ):
            yield choice(question, fact.subject, others, About(split=split, level=2 if split == "train" else 3, fact=fact.name), options=4)


def _bodies() -> Iterator[Row]:
    """What the body of an animal must be like: its habitat in training, the body in the test."""
    (table,) = tables.read("bodies.txt").values()
    suited = [fact for fact in facts()["animal.habitat"] if any(fact.answer == body.subject for body in table.facts)]
    walking = [fact for fact in suited if not fact.subject.endswith("fin")]
    for fact in walking:
        yield _asked(fact, 0, About(split="train", level=2, fact=fact.name), options=4)
    for fact in walking:
        about = About(split="test", level=3, fact=fact.name)
        yield choice(table.ask(fact, 1), table.answer(fact.answer), table.objects(), about, options=4)
