"""What papers report, on a terminal: marked as theirs, never beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from xplearn.report.columns import Column, tables
from xplearn.report.printable import printable
from xplearn.reported import NOT_STATED

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.reported import Reported

CAPTION = (
    "as the papers report them: nothing here was measured by xplearn, and nothing of it may stand in one table with what was; a split, or "
    "the version of an environment, stands behind the domain where the paper states it"
)


def render(rows: Sequence[Reported], console: Console) -> None:
    """Print the figures of each paper, notes below them."""
    for paper, group in groupby(rows, key=lambda row: row.paper):
        found = list(group)
        notes = list(dict.fromkeys(row.note for row in found if row.note))
        marks = [f" [{notes.index(row.note) + 1}]" if row.note else "" for row in found]
        lead = Column("method", tuple(row.method for row in found))
        columns = [
            Column("policy", tuple(row.policy for row in found)),
            Column("domain", tuple(_evaluated(row) for row in found)),
            Column("figure", tuple(row.figure for row in found)),
            Column("value", tuple(f"{row.value:g}{mark}" for row, mark in zip(found, marks, strict=True))),
        ]
        console.print(printable(f"reported by {paper}"), markup=False)
        for piece in tables(columns, [lead], [0] * len(found), console.width):
            console.print(piece)
        for number, note in enumerate(notes, start=1):
            console.print(printable(f"[{number}] {note}"), markup=False, style="dim")
        console.print()
    console.print(CAPTION if rows else "no installed plugin tells what a paper reports", style="dim", markup=False)


def _evaluated(row: Reported) -> str:
    """The domain, with its split and its environment's version where the paper states them."""
    stated = [what for what in (row.split, row.environment) if what != NOT_STATED]
    return row.domain + (f" ({', '.join(stated)})" if stated else "")
