"""Bars that differ by hue and by texture."""

from __future__ import annotations

from functools import partial

from xplearn.report.figures.kit import Area, Drawing, Point, hatch, hue
from xplearn.report.figures.legend import Sample

_HUES = (6, 0, 1, 3, 2, 5)
_TEXTURES = ("full", "full", "hatched", "hollow", "pale", "full")


def bar(drawing: Drawing, area: Area, index: int) -> None:
    """A bar of the series at a place."""
    colour, texture = hue(_HUES[index % len(_HUES)]), _TEXTURES[index % len(_TEXTURES)]
    x, y, width, height = area
    width = max(width, 1.0)
    if texture == "hollow":
        drawing.rect((x + 0.8, y + 0.8, max(width - 1.6, 0.4), height - 1.6), f"k-hollow k-thin k-l{colour}")
        return
    drawing.rect((x, y, width, height), f"k-s{colour}" + (" k-wash" if texture == "pale" else ""))
    if texture == "hatched":
        drawing.strokes(hatch((x, y, width, height), gap=6.0), "k-cut")
    if texture == "pale":
        drawing.rect((x + 0.8, y + 0.8, max(width - 1.6, 0.4), height - 1.6), f"k-thin k-l{colour}")


def sample(index: int) -> Sample:
    """The same for a legend."""
    return partial(_sample, index)


def _sample(index: int, drawing: Drawing, at: Point) -> None:
    bar(drawing, (at[0] - 10, at[1] - 6, 20, 12), index)
