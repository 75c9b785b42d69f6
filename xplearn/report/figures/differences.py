"""The forest plot: paired differences with their intervals around a zero line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xplearn.metrics.board import Board, Difference, Standing
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Figure
from xplearn.report.figures import interval, legend
from xplearn.report.figures.kit import Drawing
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.words import BOLD, SMALL, TEXT, apart, distinct, width

Versus = Literal["base", "plain", "best"]
AGAINST: dict[Versus, str] = {"base": "Base", "plain": "its own plain arm", "best": "the best"}
_ROW = interval.NAME + interval.LINE + 6.0
_ROOM = 300.0
"""For a name beside its p."""


def difference(standing: Standing, versus: Versus) -> Difference | None:
    """The one that is asked for."""
    return {"base": standing.versus_base, "plain": standing.versus_plain, "best": standing.versus_best}[versus]


def forest(board: Board, versus: Versus = "base", *, name: str = "") -> Figure | None:
    """Paired differences in points, in the board's order, with what Holm's correction leaves of them and the tasks that got worse.

    Args:
        board: None is drawn where no standing has this difference.
        versus: what each is compared with: Base, its own plain arm, or the best.
        name: of the figure, by default ``forest-base`` and so on.
    """
    rows = [(standing, found) for standing in board.standings if (found := difference(standing, versus)) is not None]
    if not rows:
        return None
    drawing = Drawing()
    top = legend.legend(drawing, [*entries([found for _, found in rows], board.level), *_unseen(board)], 2.0) + 4.0
    end = top + interval.HEAD + _ROW * len(rows)
    values = [*interval.bounds([found.interval for _, found in rows]), 0.0]
    room = interval.room([found.interval.text(signed=True) for _, found in rows])
    scale = around(values, interval.LEFT, drawing.width - room, floor=-100.0, ceiling=100.0)
    if board.detectable is not None:
        left, right = scale(-board.detectable), scale(board.detectable)
        drawing.rect((left, top + interval.HEAD, right - left, end - top - interval.HEAD), "k-band")
    interval.axis(drawing, scale, top, end, signed=True)
    interval.rules(drawing, scale, top + interval.HEAD, end)
    drawing.line((scale(0), top + interval.HEAD), (scale(0), end), "k-zero")
    names = [standing.contender.name for standing, _ in rows]
    called = names if all(width(one, TEXT * BOLD) < _ROOM for one in names) else distinct(names)
    room = drawing.width - max(width(_aside(found)) for _, found in rows) - 30
    called = apart(called, room, TEXT * BOLD)
    for number, (label, (standing, found)) in enumerate(zip(called, rows, strict=True)):
        y = top + interval.HEAD + number * _ROW
        with drawing.titled(_told(standing, found, versus)):
            _name(drawing, y, label, found)
            dot(drawing, scale, y + interval.NAME + interval.LINE / 2, found, told=found.p_holm < board.level)
    title = f"Difference from {AGAINST[versus]}: {board.title}"
    return drawing.figure(interval.foot(top, end), name=name or f"forest-{versus}", title=title, caption=_caption(board, versus, rows))


def entries(found: Sequence[Difference], level: float) -> list[legend.Entry]:
    """What is drawn of differences, each told where its p after Holm's correction lies below a level."""
    remains = f"(Holm p < {level:.3g})"
    told = [one.interval.mean for one in found if one.p_holm < level]
    known: list[tuple[bool, legend.Entry]] = [
        (any(mean > 0 for mean in told), (legend.rule("k-whisker k-pos", shape="square", marked="k-pos"), f"better {remains}")),
        (any(mean <= 0 for mean in told), (legend.rule("k-whisker k-neg", shape="diamond", marked="k-neg"), f"worse {remains}")),
        (len(told) < len(found), (legend.rule("k-whisker k-none", shape="circle", marked="k-hollow k-none"), "not told apart")),
    ]
    return [entry for drawn, entry in known if drawn]


def _unseen(board: Board) -> list[legend.Entry]:
    if board.detectable is None:
        return []
    return [(legend.patch("k-band", "k-grid"), f"under {tenths(board.detectable)}: found less than four times in five")]


def _name(drawing: Drawing, y: float, name: str, found: Difference) -> None:
    drawing.text((drawing.width - 6, y + 17), _aside(found), "k-muted k-halo", anchor="end", size=SMALL)
    drawing.text((8, y + 17), name, "k-strong k-halo", size=TEXT)


def _aside(found: Difference) -> str:
    return f"{p_value(found.p_holm)} · {found.worse} of {found.tasks} worse"


def dot(drawing: Drawing, scale: Scale, y: float, found: Difference, *, told: bool) -> None:
    """A difference on its line, by sign and by whether it is told, with its figures at the right."""
    if not told:
        interval.dot(drawing, scale, y, found.interval, look="k-none", mark="k-hollow k-none")
    elif found.interval.mean > 0:
        interval.dot(drawing, scale, y, found.interval, look="k-pos", mark="k-pos", shape="square")
    else:
        interval.dot(drawing, scale, y, found.interval, look="k-neg", mark="k-neg", shape="diamond")
    interval.figures(drawing, y, found.interval.text(signed=True), strong=told)


def p_value(value: float) -> str:
    """With as many digits as anyone needs."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"


def _told(standing: Standing, found: Difference, versus: Versus) -> str:
    return (
        f"{standing.contender.name} against {AGAINST[versus]}: {found.interval.text(signed=True)} points, p {found.p:.3g}, "
        f"after Holm {found.p_holm:.3g}; better on {found.better} of {found.tasks} tasks, worse on {found.worse}"
    )


def _caption(board: Board, versus: Versus, rows: list[tuple[Standing, Difference]]) -> str:
    up = sum(found.p_holm < board.level and found.interval.mean > 0 for _, found in rows)
    down = sum(found.p_holm < board.level and found.interval.mean < 0 for _, found in rows)
    return (
        f"Paired differences from {AGAINST[versus]} in points with {100 * board.confidence:g} % intervals over {board.over}; p of a paired "
        f"permutation test over tasks, after Holm's correction: {up} of {len(rows)} better, {down} worse."
    )
