"""Columns of text side by side, in as few tables as a terminal's width allows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.table import Table as RichTable

GAP, NARROW = 3, 2
"""Characters between columns: as a rule, and where that makes them fit."""


class Column(NamedTuple):
    """One column as text."""

    name: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        """Characters it takes, without a gap."""
        return max(len(text) for text in (self.name, *self.cells))


def fitted(columns: Sequence[Column], leads: Sequence[Column], width: int, spare: Sequence[str] = ()) -> tuple[list[Column], int]:
    """Columns that stand in one table beside the leading ones, and the gap between them.

    Short of room the gap is narrowed first, then go the ``spare`` columns, in their order and no more of them than must; where even that
    would not do, all stay, for several tables.
    """
    for count in range(len(spare) + 1):
        kept = [column for column in columns if column.name not in spare[:count]]
        for gap in (GAP, NARROW):
            if len(pack(kept, leads, width, gap)) == 1:
                return kept, gap
    return list(columns), GAP


def pack(columns: Sequence[Column], leads: Sequence[Column], width: int, gap: int = GAP) -> list[list[Column]]:
    """The columns in order, in groups that fit the width beside the leading ones."""
    room = width - sum(gap + lead.width for lead in leads)
    groups: list[list[Column]] = [[]]
    for column in columns:
        if groups[-1] and sum(gap + other.width for other in groups[-1]) + gap + column.width > room:
            groups.append([])
        groups[-1].append(column)
    return groups


def tables(columns: Sequence[Column], leads: Sequence[Column], sections: Sequence[int], width: int) -> list[RichTable]:
    """The columns in as many tables as must be, the leading ones in each, narrowly where that makes one of them."""
    shown, gap = fitted(columns, leads, width)
    return [draw([*leads, *group], sections, gap) for group in pack(shown, leads, width, gap)]


def telling(columns: Sequence[Column], nothing: str) -> list[Column]:
    """Those that have more to tell than ``nothing``."""
    return [column for column in columns if any(cell != nothing for cell in column.cells)]


def left_out(columns: Sequence[Column], shown: Collection[Column]) -> str:
    """Which columns there was no room for, in words; empty where there was."""
    names = [column.name for column in columns if column not in shown]
    return f"no room for {', '.join(names)}" if names else ""


def draw(columns: Sequence[Column], sections: Sequence[int], gap: int = GAP) -> RichTable:
    """A table of columns; a rule where the section of a line is not the one before's."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=gap < GAP)
    for number, column in enumerate(columns):
        left = number == 0 or column.name == "domain"
        drawn.add_column(Text(printable(column.name)), justify="left" if left else "right", no_wrap=True, overflow="fold")
    for number, line in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number and sections[number] != sections[number - 1]:
            drawn.add_section()
        drawn.add_row(*(Text(printable(cell)) for cell in line))
    return drawn
