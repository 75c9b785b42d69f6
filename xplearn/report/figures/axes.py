"""What each choice changes: a forest plot of labels beside the first of their axis, axis by axis."""

from __future__ import annotations

from itertools import groupby

from xplearn.metrics.along import Effect, Effects
from xplearn.metrics.board import Board
from xplearn.report.choices import TITLE, over, unmatched
from xplearn.report.figure import Figure
from xplearn.report.figures import interval, legend
from xplearn.report.figures.differences import dot, entries, p_value
from xplearn.report.figures.kit import Drawing
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.words import BOLD, SMALL, TEXT, apart, width

_AXIS, _ROW = 26.0, interval.NAME + interval.LINE + 2.0
"""Height of an axis' heading, and of a label below it."""


def axes(board: Board, effects: Effects, *, name: str = "axes") -> Figure | None:
    """Differences in points, each beside the label that its axis begins with; None where there is none.

    Args:
        board: that they are of.
        effects: axis by axis.
        name: of the figure.
    """
    if not effects.found:
        return None
    by_axis = [list(found) for _, found in groupby(effects.found, key=lambda effect: effect.choice.axis)]
    differences = [effect.difference for effect in effects.found]
    drawing = Drawing()
    top = legend.legend(drawing, entries(differences, board.level), 2.0) + 4.0
    start = top + interval.HEAD
    end = start + _AXIS * len(by_axis) + _ROW * len(differences)
    room = interval.room([found.interval.text(signed=True) for found in differences])
    values = [*interval.bounds([found.interval for found in differences]), 0.0]
    scale = around(values, interval.LEFT, drawing.width - room, floor=-100.0, ceiling=100.0)
    interval.axis(drawing, scale, top, end, signed=True)
    interval.rules(drawing, scale, start, end)
    drawing.line((scale(0), start), (scale(0), end), "k-zero")
    y = start
    for found in by_axis:
        _axis(drawing, scale, y, found, board.level)
        y += _AXIS + _ROW * len(found)
    return drawing.figure(interval.foot(top, end), name=name, title=f"{TITLE}: {board.title}", caption=_caption(board, effects))


def _axis(drawing: Drawing, scale: Scale, y: float, found: list[Effect], level: float) -> None:
    """Its name and what it begins with, then its other labels."""
    choice = found[0].choice
    drawing.text((8, y + 18), f"{choice.axis}, beside {choice.against}", "k-muted k-halo", size=TEXT, room=drawing.width - 16)
    room = drawing.width - max(width(_aside(effect)) for effect in found) - 46
    labels = apart([effect.choice.label for effect in found], room, TEXT * BOLD)
    for number, (label, effect) in enumerate(zip(labels, found, strict=True)):
        row = y + _AXIS + number * _ROW
        with drawing.titled(_told(effect)):
            drawing.text((drawing.width - 6, row + 15), _aside(effect), "k-muted k-halo", anchor="end", size=SMALL)
            drawing.text((20, row + 15), label, "k-strong k-halo", size=TEXT)
            told = effect.difference.p_holm < level
            dot(drawing, scale, row + interval.NAME + interval.LINE / 2 - 2, effect.difference, told=told)


def _aside(effect: Effect) -> str:
    return f"{p_value(effect.difference.p_holm)} · {effect.matched} of {effect.configurations} matched"


def _told(effect: Effect) -> str:
    choice, found = effect.choice, effect.difference
    return (
        f"{choice.axis}: {choice.label} beside {choice.against}: {found.interval.text(signed=True)} points, p {found.p:.3g}, after Holm "
        f"{found.p_holm:.3g}, over {effect.matched} of {effect.configurations} configurations, from {min(effect.each):+z.1f} to "
        f"{max(effect.each):+z.1f} in each; better on {found.better} of {found.tasks} tasks, worse on {found.worse}"
    )


def _caption(board: Board, effects: Effects) -> str:
    return (
        "Each label beside the first of its axis, all else alike: the mean over the configurations run with both (matched, of those "
        f"run with either) in points, with {100 * board.confidence:g} % intervals over {over(effects)} and p after Holm's correction. "
        f"It hides where these disagree. {unmatched(effects)}"
    ).strip()
