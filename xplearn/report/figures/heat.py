"""Scores as heat: a cell with its number, and what the shades stand for."""

from __future__ import annotations

from xplearn.metrics.digits import tenths
from xplearn.report.figures.kit import Area, Drawing
from xplearn.report.figures.words import TEXT

STEPS = 10
_DARK = 6
"""From this step on the number is of the other lightness."""


def step(score: float) -> int:
    """Number of the shade of a score, 0 to 100."""
    return min(STEPS - 1, max(0, int(score * STEPS / 100.0)))


def cell(drawing: Drawing, area: Area, score: float) -> None:
    """A shaded rectangle with the score in it."""
    shade, (x, y, width, height) = step(score), area
    drawing.rect(area, f"k-heat-{shade}", round=3)
    ink = "k-high" if shade >= _DARK else "k-low"
    drawing.text((x + width / 2, y + height / 2 + 5), tenths(score), ink, anchor="middle", size=TEXT)


def foot(drawing: Drawing, x: float, y: float) -> float:
    """The shades from 0 to 100 with their ends; returns where a drawing may end below them."""
    drawing.text((x, y + 14), "0", "k-muted")
    for shade in range(STEPS):
        drawing.rect((x + 12 + 14 * shade, y + 3, 14, 14), f"k-heat-{shade}")
    drawing.text((x + 17 + 14 * STEPS, y + 14), "100", "k-muted")
    return y + 24.0
