"""Performance profiles: which share of the scores lies above each threshold."""

from __future__ import annotations

import itertools

from xplearn.metrics.board import Board
from xplearn.metrics.bootstrap import Array
from xplearn.report.figure import Figure
from xplearn.report.figures import legend
from xplearn.report.figures.kit import Drawing
from xplearn.report.figures.panel import Box, Panel, below
from xplearn.report.figures.scale import Scale
from xplearn.report.figures.series import FAINT, Look, entries, look
from xplearn.report.figures.standings import configuration

LEADING = 3
"""Configurations whose lines stand out: more of them hide one another."""
BANDED = 2
"""Best standings whose bands are shown, for the same reason."""
_HEIGHT = 260.0


def profiles(board: Board, *, name: str = "profiles") -> Figure | None:
    """Each contender's profile over the board's thresholds. Source: Agarwal et al. (2021), figure 3.

    Args:
        board: None is drawn where no standing has a profile.
        name: of the figure.
    """
    shown = [standing for standing in board.standings if len(standing.profile) == len(board.thresholds) > 1]
    if not shown:
        return None
    looks = _looks(board)
    drawing = Drawing()
    named = [standing.contender.name for standing in shown]
    top = legend.legend(drawing, entries(named, [looks[one] for one in named]), 2.0) + 10.0
    box = Box(left=46.0, top=top + 4, right=drawing.width - 14, bottom=top + _HEIGHT)
    low, high = float(board.thresholds[0]), float(board.thresholds[-1])
    panel = Panel(drawing, box, Scale(low, high, box.left, box.right), Scale(0.0, 1.0, box.bottom, box.top))
    panel.frame("", heights="{:.0%}".format, values=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
    ticks = panel.x.ticks()
    panel.marks(ticks, [f"{value:g}" for value in ticks])
    for standing in sorted(shown, key=lambda standing: looks[standing.contender.name] is not FAINT):
        of, contender = looks[standing.contender.name], standing.contender.name
        if standing.band is not None and of.hue is not None and standing in shown[:BANDED]:
            _band(panel, board.thresholds, standing.band, f"k-s{of.hue} k-shade")
        with drawing.titled(contender):
            _profile(panel, board.thresholds, standing.profile, of)
    end = below(drawing, box.bottom + 28, "share of scores above a threshold, by threshold")
    caption = "Share of the scores of all tasks and seeds that lie above a threshold: a line further right is a better contender."
    return drawing.figure(end, name=name, title=f"Performance profiles: {board.title}", caption=caption)


def _looks(board: Board) -> dict[str, Look]:
    places: dict[str, int] = {}
    found = {}
    for standing in board.standings:
        place = places.setdefault(configuration(standing.contender), len(places))
        leads = place < LEADING
        found[standing.contender.name] = look(place, plain=standing.contender.arm == "plain") if leads else FAINT
    return found


def _profile(panel: Panel, thresholds: Array, profile: Array, of: Look) -> None:
    points = list(zip(thresholds.tolist(), profile.tolist(), strict=True))
    panel.curve(points, of.line)
    if of.mark:
        every = max(1, len(points) // 8)
        for x, y in itertools.islice(points, every // 2, None, every):
            panel.drawing.marker(of.shape, (panel.x(x), panel.y(y)), of.mark, size=4.0)


def _band(panel: Panel, thresholds: Array, band: tuple[Array, Array], look: str) -> None:
    lower, upper = band
    there = [(panel.x(x), panel.y(y)) for x, y in zip(thresholds.tolist(), upper.tolist(), strict=True)]
    back = [(panel.x(x), panel.y(y)) for x, y in zip(thresholds.tolist(), lower.tolist(), strict=True)]
    panel.drawing.path([*there, *reversed(back)], look, closed=True)
