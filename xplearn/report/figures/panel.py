"""Small panels with two axes, as many side by side as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xplearn.report.figures.kit import Drawing, Point, Shape, compact
from xplearn.report.figures.scale import Scale
from xplearn.report.figures.words import BOLD, SMALL, TEXT, width

MARKED = 24
"""With more points than this a curve has no marks."""
_HEAD, _FOOT, _GAP = 24.0, 22.0, 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where a panel's curves are drawn."""

    left: float
    top: float
    right: float
    bottom: float


def boxes(count: int, top: float, total: float, *, height: float, margin: float, columns: int = 2) -> Iterator[Box]:
    """Places for panels, row by row.

    Args:
        count: how many.
        top: where the first row begins.
        total: width of the drawing.
        height: of the area that curves are drawn in.
        margin: room for the words beside the vertical axis.
        columns: how many stand side by side, if there are that many.
    """
    columns = min(columns, count)
    pitch = (total - 8.0) / max(1, columns)
    for number in range(count):
        row, column = divmod(number, columns)
        left = 4.0 + column * pitch + margin
        upper = top + row * row_height(height) + _HEAD
        yield Box(left=left, top=upper, right=4.0 + (column + 1) * pitch - _GAP, bottom=upper + height)


def row_height(height: float) -> float:
    """Of a row of panels: a title above, the marks of the axis below."""
    return _HEAD + height + _FOOT + 8.0


def bottom(count: int, top: float, *, height: float, columns: int = 2) -> float:
    """Where a block of panels ends."""
    return top + -(-count // min(columns, max(1, count))) * row_height(height)


def below(drawing: Drawing, y: float, words: str) -> float:
    """What the horizontal axes of all panels count, in one line below them; returns where a drawing may end."""
    drawing.text((drawing.width / 2, y + 9), words, "k-muted", anchor="middle")
    return y + 16.0


def margin(labels: Sequence[str]) -> float:
    """Room for the words beside a vertical axis."""
    return max((width(label) for label in labels), default=0.0) + 8.0


@dataclass(frozen=True, slots=True)
class Panel:
    """One of them."""

    drawing: Drawing
    box: Box
    x: Scale
    y: Scale

    def frame(self, title: str, *, heights: Callable[[float], str] = compact, values: Sequence[float] = (), floor: bool = True) -> None:
        """Title, horizontal rules with their values, by default round ones, and the line below unless there is no ``floor``."""
        box, draw = self.box, self.drawing
        self.title(title)
        for value in values or self.y.ticks(5 if box.bottom - box.top > 60 else 3):
            at = self.y(value)
            draw.line((box.left, at), (box.right, at), "k-grid")
            if label := heights(value):
                draw.text((box.left - 6, at + 4.5), label, "k-muted", anchor="end")
        if floor:
            draw.line((box.left, box.bottom), (box.right, box.bottom), "k-axis")

    def title(self, words: str) -> None:
        """Above it, unless it is empty."""
        box = self.box
        if words:
            start = box.left if width(words, TEXT * BOLD) < box.right - box.left else box.left - 30.0
            self.drawing.text((start, box.top - 9), words, "k-strong", size=TEXT, room=box.right - start)

    def marks(self, values: Sequence[float], labels: Sequence[str]) -> None:
        """Marks and words below; words that would touch are left out, the first and the last never."""
        box, taken, last = self.box, self.box.left - 40.0, len(values) - 1
        limit = self.x(values[last]) - width(labels[last]) / 2 if values else box.right
        for number, (value, label) in enumerate(zip(values, labels, strict=True)):
            at, half = self.x(value), width(label, SMALL) / 2
            self.drawing.line((at, box.bottom), (at, box.bottom + 4), "k-axis")
            if number not in (0, last) and (at - half < taken + 8 or at + half > limit - 8):
                continue
            at = min(at, self.drawing.width - 2 - half)
            if not label:
                continue
            self.drawing.text((at, box.bottom + 18), label, "k-muted", anchor="middle")
            taken = at + half

    def curve(self, points: Sequence[Point], look: str, *, marked: str = "", shape: Shape = "circle", size: float = 3.8) -> None:
        """A line through points given in values, with a mark of the classes ``marked`` on each while they are few."""
        places = [(self.x(x), self.y(y)) for x, y in points]
        if len(places) > 1:
            self.drawing.path(places, f"k-curve {look}")
        if marked and (len(places) <= MARKED or len(places) == 1):
            for place in places:
                self.drawing.marker(shape, place, marked, size=size)


def runs_of(points: Sequence[tuple[float, float | None]]) -> Iterator[list[Point]]:
    """The stretches without a gap: a curve never crosses what is not known."""
    stretch: list[Point] = []
    for x, y in points:
        if y is not None:
            stretch.append((x, y))
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch
