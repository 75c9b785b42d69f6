"""The grid of a cross: every cell, run or not, and why not."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xplearn.record.cross import Cross
from xplearn.report.figure import Figure


def grid(
    cross: Cross, scores: Mapping[str, float], *, column: str = "", averaged: Collection[str] = ("seed",), name: str = "grid"
) -> Figure | None:
    """Every cell of a cross: its score as heat, or hatched for unsound, crossed for failed, dotted for waiting; reasons are tooltips.

    Args:
        cross: None is drawn of one without cells.
        scores: final score, 0 to 100, by id of the cell; a cell that is the same as another shows that one's.
        column: axis whose labels are the columns; by default ``stream`` or, where there is none, the last that is not averaged.
        averaged: axes over which scores are averaged.
        name: of the figure.
    """
    return None
