"""Makes rows of questions about facts, and says which facts a test row shares with training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xplearn_expbench.mini import draw
from xplearn_expbench.mini.world import Fact, facts
from xplearn_expbench.spec import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What describes a row."""

    split: str
    level: int
    """1: known to everybody, or said in the question. 2: a fact of the invented world. 3: to be reasoned, or told by how a name ends."""
    fact: str = ""
    """Name of the fact that answers it."""
    subject: str = ""
    """Lesson it belongs to."""

    def meta(self) -> dict[str, str | int]:
        """For the row, without what is empty."""
        described: dict[str, str | int] = {"level": self.level, "fact": self.fact, "subject": self.subject}
        return {name: value for name, value in described.items() if value}


def choice(question: str, right: str, pool: Iterable[str], about: About, *, options: int) -> Row:
    """A question with options: the right one and others of the pool, in an order drawn by the question."""
    wrong = draw.few(sorted(set(pool) - {right}), options - 1, "wrong", question)
    shown = tuple(draw.shuffled([right, *wrong], "options", question))
    return Row(id="", question=question, answer=shown.index(right), choices=shown, split=about.split, meta=about.meta())


def qa(question: str, answers: Sequence[str], about: About) -> Row:
    """A question with its accepted answers."""
    return Row(id="", question=question, answer=list(answers), split=about.split, meta=about.meta())


def pooled(*relations: str, key: str) -> list[Fact]:
    """The world's facts of these relations in a mixed order."""
    return draw.shuffled([fact for relation in relations for fact in facts()[relation]], "pool", key)


def finished(task: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of a task: named, mixed, and test rows told whether training asks for the same fact (``meta["seen"]``)."""
    trained = {row.meta["fact"] for row in rows if row.split == "train" and "fact" in row.meta}
    marked = [replace(row, meta={**row.meta, "seen": row.meta.get("fact") in trained}) if row.split == "test" else row for row in rows]
    return _balanced(draw.named(task, marked))


def _balanced(rows: list[Row]) -> list[Row]:
    """The right options moved so that no place in the list is right more often than another."""
    placed: dict[str, Row] = {}
    for split in ("train", "test"):
        asked = [row for row in rows if row.split == split and row.choices]
        places = draw.shuffled([turn % len(row.choices) for turn, row in enumerate(asked)], "places", split)
        placed |= {row.id: _moved(row, place) for row, place in zip(asked, places, strict=True)}
    return [placed.get(row.id, row) for row in rows]


def _moved(row: Row, place: int) -> Row:
    wrong = [option for index, option in enumerate(row.choices) if index != row.answer]
    return replace(row, answer=place, choices=(*wrong[:place], row.choices[row.answer], *wrong[place:]))
