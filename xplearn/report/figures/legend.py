"""What marks and lines stand for, in lines of samples with words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xplearn.report.figures.kit import Drawing, Point, Shape
from xplearn.report.figures.words import SMALL, apart, width

Sample = Callable[[Drawing, Point], None]
"""Draws a sample around a point, about 24 units wide."""
Entry = tuple[Sample, str]

LINE = 20.0
"""Height of a line of a legend."""
_SAMPLE, _GAP = 30.0, 18.0


def legend(drawing: Drawing, entries: Sequence[Entry], top: float, *, left: float = 8.0) -> float:
    """Draw entries from left to right, in as many lines as they need.

    Returns:
        Where the next thing may begin.
    """
    x, y, right = left, top, drawing.width - 4.0
    short = apart([words for _, words in entries], right - left - _SAMPLE)
    for (sample, whole), words in zip(entries, short, strict=True):
        wanted = _SAMPLE + width(words) + _GAP
        if x > left and x + wanted - _GAP > right:
            x, y = left, y + LINE
        sample(drawing, (x + 12.0, y + 10.0))
        drawing.text((x + _SAMPLE, y + 14.5), whole, "k-muted", size=SMALL, short=words)
        x += wanted
    return y + LINE if entries else top


def mark(shape: Shape, look: str, *, size: float = 5.0) -> Sample:
    """A sample of a mark."""
    return partial(_mark, shape, look, size)


def rule(look: str, *, upright: bool = False, shape: Shape | None = None, marked: str = "") -> Sample:
    """A sample of a line, with a mark on it if there is a ``shape``."""
    return partial(_rule, look, upright, None if shape is None else mark(shape, marked, size=4.0))


def patch(look: str, edge: str = "") -> Sample:
    """A sample of a filled area."""
    return partial(_patch, look, edge)


def _mark(shape: Shape, look: str, size: float, drawing: Drawing, at: Point) -> None:
    drawing.marker(shape, at, look, size=size)


def _rule(look: str, upright: bool, mark: Sample | None, drawing: Drawing, at: Point) -> None:
    x, y = at
    drawing.line((x, y - 8), (x, y + 8), look) if upright else drawing.line((x - 12, y), (x + 12, y), look)
    if mark is not None:
        mark(drawing, at)


def _patch(look: str, edge: str, drawing: Drawing, at: Point) -> None:
    drawing.rect((at[0] - 10, at[1] - 7, 20, 14), look)
    if edge:
        drawing.rect((at[0] - 10, at[1] - 7, 20, 14), edge)
