"""Rows of a name above a dot with its interval: what leaderboards, forests and retention have in common."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.metrics.bootstrap import Interval
from xplearn.report.figures.kit import Drawing, Shape
from xplearn.report.figures.scale import Scale
from xplearn.report.figures.words import BOLD, SMALL, width

NAME, LINE = 22.0, 20.0
"""Height of a row's name, and of each of its intervals."""
HEAD = 22.0
"""Height of the axis above."""
LEFT = 14.0
FIGURES = 140.0
"""Least room for the figures at the right."""

EDGE = 1.2
"""How much more room than it takes a label has at an edge: some fonts are wider than others."""
TALL = 500.0
"""From this height on the axis is repeated below."""


def room(figures: Sequence[str], *, sign: float = 0.0) -> float:
    """For the figures at the right, the longest of them in bold; ``sign``: for what stands before them."""
    return max(FIGURES, sign + 16.0 + BOLD * max(width(minus(words)) for words in figures))


def axis(drawing: Drawing, scale: Scale, top: float, end: float, *, signed: bool = False) -> None:
    """The values of an axis above and, where the drawing is tall, below."""
    for value in scale.ticks():
        label = minus(f"{value:+g}" if signed and abs(value) > 1e-9 else f"{value + 0.0:g}")
        reach = EDGE * width(label) / 2
        x = min(max(scale(value), reach), drawing.width - reach)
        drawing.text((x, top + 14), label, "k-muted", anchor="middle")
        if end - top > TALL:
            drawing.text((x, end + 15), label, "k-muted", anchor="middle")


def rules(drawing: Drawing, scale: Scale, top: float, end: float) -> None:
    """The axis' rules along some rows."""
    drawing.strokes([((scale(value), top), (scale(value), end)) for value in scale.ticks()], "k-grid")


def foot(top: float, end: float) -> float:
    """Where a drawing ends."""
    return end + (24.0 if end - top > TALL else 6.0)


def minus(words: str) -> str:
    """Figures with a minus sign in place of a hyphen."""
    return words.replace("-", "−")


def dot(drawing: Drawing, scale: Scale, y: float, found: Interval, *, look: str, mark: str, shape: Shape = "circle") -> None:
    """An interval as a line, its mean as a mark."""
    if found.low is not None and found.high is not None:
        drawing.line((scale(found.low), y), (scale(found.high), y), f"k-whisker {look}")
    drawing.marker(shape, (scale(found.mean), y), mark, size=5.2)


def figures(drawing: Drawing, y: float, words: str, *, strong: bool = False) -> None:
    """The figures of a row, flush right."""
    drawing.text((drawing.width - 6, y + 4.5), minus(words), "k-strong" if strong else "k-text", anchor="end", size=SMALL)


def bounds(found: Sequence[Interval]) -> list[float]:
    """Every end and mean, to make a scale of."""
    return [value for one in found for value in (one.low, one.mean, one.high) if value is not None]
