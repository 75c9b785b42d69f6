"""Columns of text side by side, in as many tables as a terminal's width asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.table import Table as RichTable


class Column(NamedTuple):
    """One column as text."""

    name: str
    cells: tuple[str, ...]

    @property
    def width(self) -> int:
        """Characters it takes, with the gap before it."""
        return 3 + max(len(text) for text in (self.name, *self.cells))


def pack(columns: Sequence[Column], leads: Sequence[Column], width: int) -> list[list[Column]]:
    """The columns in order, in groups that fit the width beside the leading ones."""
    room = width - sum(lead.width for lead in leads)
    groups: list[list[Column]] = [[]]
    for column in columns:
        if groups[-1] and sum(other.width for other in groups[-1]) + column.width > room:
            groups.append([])
        groups[-1].append(column)
    return groups


def draw(columns: Sequence[Column], sections: Sequence[int]) -> RichTable:
    """A table of columns; a rule where the section of a line is not the one before's."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        left = number == 0 or column.name == "domain"
        drawn.add_column(Text(printable(column.name)), justify="left" if left else "right", no_wrap=True, overflow="fold")
    for number, line in enumerate(zip(*(column.cells for column in columns), strict=True)):
        if number and sections[number] != sections[number - 1]:
            drawn.add_section()
        drawn.add_row(*(Text(printable(cell)) for cell in line))
    return drawn
