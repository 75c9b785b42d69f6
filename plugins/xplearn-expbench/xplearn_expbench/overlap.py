"""Questions that stand in two splits. Published mixtures have them: one's HumanEval training rows hold every test row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from xplearn import DataError
from xplearn_expbench.spec import Kind, Row
from xplearn_expbench.splits import normalised

Overlap = Literal["drop", "refuse"]

_PRECEDENCE = ("test", "dev", "train")
"""A question stays in the first of its splits, so that test sets keep their published size."""

_TOLD = 3


class Separated(NamedTuple):
    """Rows of which no two splits share a question."""

    rows: list[Row]
    dropped: tuple[Row, ...]
    """What was taken out, from the split that is named on the row."""


def identity(kind: Kind, row: Row) -> str:
    """What makes two rows the same question.

    With options or candidates the right one counts too: many a multiple-choice set asks "Which of these is true?" of different options.
    In chemistry upper and lower case are different atoms: C1CCCCC1 is not c1ccccc1.
    """
    if kind == "chemistry":
        return " ".join(row.question.split())
    if kind == "choice":
        return f"{normalised(row.question)}\n{normalised(row.choices[row.answer])}"
    if kind == "ranking":
        return f"{normalised(row.question)}\n{row.answer}"
    return normalised(row.question)


def separated(rows: Sequence[Row], kind: Kind, policy: Overlap, origin: object) -> Separated:
    """The rows without those that a later split (test, then dev, then train) repeats; repetitions within a split stay.

    Raises:
        DataError: there are some, and ``policy`` is ``refuse``.
    """
    holder: dict[str, str] = {}
    for split in _PRECEDENCE:
        for row in rows:
            if row.split == split:
                holder.setdefault(identity(kind, row), split)
    kept = [row for row in rows if holder[identity(kind, row)] == row.split]
    dropped = tuple(row for row in rows if holder[identity(kind, row)] != row.split)
    if dropped and policy == "refuse":
        names = ", ".join(f"'{row.id}' of {row.split}" for row in dropped[:_TOLD])
        raise DataError(origin, f"{len(dropped)} questions stand in two splits, e.g. {names}; leave them out with overlap=drop")
    return Separated(kept, dropped)
