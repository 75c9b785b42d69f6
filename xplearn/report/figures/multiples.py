"""Small panels for many runs: a table of rows and columns where rows have several, else a block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from xplearn.report.figures.kit import WIDTH, Drawing
from xplearn.report.figures.panel import Box, bottom, boxes
from xplearn.report.figures.words import BOLD, TEXT, apart, widest, width, wrapped

T = TypeVar("T")

Names = Mapping[tuple[str, str], str]
"""What panels are called, by row and column."""

Table = Mapping[str, Mapping[str, Sequence[T]]]
"""Values by row and column; those of one place differ in their seed."""

_NARROWEST, _GAP, _LABEL, _PAD, _FOOT, _LINE = 80.0, 10.0, 27.0, 7.0, 26.0, 17.0


def several(table: Table[T]) -> bool:
    """Whether a row has values in more than one column."""
    return any(len(cells) > 1 for cells in table.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot(Generic[T]):
    """One panel."""

    values: Sequence[T]
    row: str
    column: str
    name: str
    """What it is called by itself."""
    box: Box
    title: str
    """Above it; empty where its row and column say it."""
    left: bool
    """Values beside it: it is the first of its row."""
    below: bool
    """Marks below it: it is the last of its column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Multiples(Generic[T]):
    """Where panels stand."""

    table: Table[T]
    height: float
    """Of a panel in a block."""
    small: float
    """Of a panel in a table."""
    margin: float
    """Room for the words beside the vertical axis."""
    names: Names = field(default_factory=dict)
    """What panels are called where rows do not tell: those of a block, and any that is pointed at."""

    @property
    def columns(self) -> list[str]:
        """In the order they come."""
        return list(dict.fromkeys(column for cells in self.table.values() for column in cells))

    @property
    def dense(self) -> bool:
        """Whether it is a table: a row has panels in several columns."""
        return several(self.table)

    def drawing(self) -> Drawing:
        """An empty one that is wide enough."""
        if not self.dense:
            return Drawing()
        needed = max([_NARROWEST, *(widest(column) for column in self.columns)]) + _GAP
        return Drawing(max(WIDTH, self.margin + 8.0 + needed * len(self.columns)))

    def place(self, drawing: Drawing, top: float) -> tuple[list[Slot[T]], float]:
        """The panels, with what is written above rows and columns; and where the next thing may begin."""
        return self._table(drawing, top) if self.dense else self._block(drawing, top)

    def _block(self, drawing: Drawing, top: float) -> tuple[list[Slot[T]], float]:
        places = [(row, column) for row, cells in self.table.items() for column in cells]
        titles = [self.names.get(place, place[0]) for place in places]
        wide = max(width(title, TEXT * BOLD) for title in titles) > drawing.width / 2 - 24.0
        columns = 1 if wide else 2
        titles = apart(titles, drawing.width / columns - 24.0, TEXT * BOLD)
        drawn = boxes(len(titles), top, drawing.width, height=self.height, margin=self.margin, columns=columns)
        found = [
            Slot(
                values=self.table[row][column],
                row=row,
                column=column,
                name=self._name(row, column),
                box=box,
                title=title,
                left=True,
                below=True,
            )
            for (row, column), title, box in zip(places, titles, drawn, strict=True)
        ]
        return found, bottom(len(found), top, height=self.height, columns=columns)

    def _table(self, drawing: Drawing, top: float) -> tuple[list[Slot[T]], float]:
        first = top + self._heads(drawing, top)
        found = []
        short = apart(list(self.table), drawing.width - 12, TEXT * BOLD)
        for number, row in enumerate(self.table):
            y = first + number * (_LABEL + self.small + _PAD)
            drawing.line((4, y), (drawing.width - 4, y), "k-grid")
            drawing.text((6, y + 17), row, "k-strong", size=TEXT, short=short[number])
            found += list(self._row(drawing, row, y + _LABEL, last=number == len(self.table) - 1))
        return found, first + len(self.table) * (_LABEL + self.small + _PAD) + _FOOT

    def _row(self, drawing: Drawing, row: str, y: float, *, last: bool) -> Iterator[Slot[T]]:
        left = True
        for column, (start, end) in zip(self.columns, self._spans(drawing), strict=True):
            if column in self.table[row]:
                box = Box(left=start, top=y, right=end, bottom=y + self.small)
                name, values = self._name(row, column), self.table[row][column]
                yield Slot(values=values, row=row, column=column, name=name, box=box, title="", left=left, below=last)
                left = False

    def _name(self, row: str, column: str) -> str:
        return self.names.get((row, column), f"{row} {column}")

    def _heads(self, drawing: Drawing, top: float) -> float:
        """The names of columns; returns their height."""
        heads = [wrapped(column, end - start + _GAP / 2) for column, (start, end) in zip(self.columns, self._spans(drawing), strict=True)]
        most = max(map(len, heads))
        for lines, (start, end) in zip(heads, self._spans(drawing), strict=True):
            for number, line in enumerate(lines):
                drawing.text(((start + end) / 2, top + _LINE * (most - len(lines) + number) + 12), line, "k-text", anchor="middle")
        return most * _LINE + 4.0

    def _spans(self, drawing: Drawing) -> list[tuple[float, float]]:
        pitch = (drawing.width - self.margin - 8.0) / len(self.columns)
        starts = [4.0 + self.margin + number * pitch for number in range(len(self.columns))]
        return [(start, start + pitch - _GAP) for start in starts]
