"""The leaderboard: a dot and an interval for each contender."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.metrics.board import Board, Contender, Standing
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Figure
from xplearn.report.figures import interval, legend
from xplearn.report.figures.kit import HUES, Drawing, Shape, hue, shape
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.words import BOLD, TEXT, apart
from xplearn.report.verdict import decided, leading, verdict

HARNESS = "+Harness"
_PAD, _SIGN = 8.0, 36.0

Look = tuple[int, Shape]
"""Colour and mark of a configuration: where colours come again, marks do not."""


def configuration(contender: Contender) -> str:
    """Name that both arms of one configuration share."""
    return contender.name.removesuffix(HARNESS) if contender.arm == "experience" else contender.name


def configurations(board: Board) -> dict[str, list[Standing]]:
    """Standings by configuration, the one with the best standing first."""
    found: dict[str, list[Standing]] = {}
    for standing in board.standings:
        found.setdefault(configuration(standing.contender), []).append(standing)
    return found


def ranks(means: Sequence[float]) -> list[int]:
    """Places of means from the highest on: equal ones share the first of theirs, and the next is as many further on."""
    rounded = [round(mean, 9) for mean in means]
    return [1 + sum(other > mean for other in rounded) for mean in rounded]


def base(standing: Standing) -> float | None:
    """Base's mean, from what the difference leaves; None where Base was not evaluated."""
    return None if standing.versus_base is None else standing.mean.mean - standing.versus_base.interval.mean


def leaderboard(board: Board, *, name: str = "leaderboard") -> Figure | None:
    """Mean scores with their intervals, the best configuration first, both arms of one next to each other; Base is a line.

    Args:
        board: None is drawn of a board without standings.
        name: of the figure.
    """
    if not board.standings:
        return None
    groups = configurations(board)
    bases = [found for standing in board.standings if (found := base(standing)) is not None]
    drawing = Drawing()
    top = legend.legend(drawing, _entries(board, bool(bases)), 2.0) + 4.0
    end = top + interval.HEAD + sum(_height(group) for group in groups.values())
    values = [*interval.bounds([standing.mean for standing in board.standings]), *bases]
    room = interval.room([standing.mean.text() for standing in board.standings], sign=_SIGN)
    scale = around(values, interval.LEFT, drawing.width - room, floor=0.0, ceiling=100.0)
    if decided(board):
        _bands(drawing, groups, top + interval.HEAD)
    interval.axis(drawing, scale, top, end)
    y = top + interval.HEAD
    best = leading(board) if decided(board) else []
    places = ranks([group[0].mean.mean for group in groups.values()])
    short = apart(list(groups), drawing.width - 44, TEXT * BOLD)
    for number, (rank, (label, group)) in enumerate(zip(places, groups.items(), strict=True)):
        drawing.text((8, y + 18), f"{rank}", "k-muted", size=TEXT)
        drawing.text((30, y + 18), label, "k-strong", size=TEXT, short=short[number])
        _arms(drawing, scale, y + interval.NAME, (hue(number), shape(number // HUES)), group, best=best)
        y += _height(group)
    by = "their better arm" if any(len(group) > 1 for group in groups.values()) else "their mean"
    caption = (
        f"Mean score, 0 to 100, with {100 * board.confidence:g} % bootstrap intervals over {board.over}; {_counted(len(groups))}, "
        f"ranked by {by}{', equal ones alike' if len(set(places)) < len(places) else ''}. {verdict(board)}"
    ).strip()
    return drawing.figure(interval.foot(top, end), name=name, title=f"Leaderboard: {board.title}", caption=caption)


def _counted(count: int) -> str:
    return f"{count} configuration{'' if count == 1 else 's'}"


def _height(group: Sequence[Standing]) -> float:
    return interval.NAME + interval.LINE * len(group) + _PAD


def _entries(board: Board, known: bool) -> list[legend.Entry]:
    arms = {standing.contender.arm for standing in board.standings}
    entries: list[legend.Entry] = []
    if "experience" in arms:
        entries.append((legend.rule("k-whisker k-l0", shape="circle", marked="k-solid k-s0 k-l0"), "with its bank"))
    if "plain" in arms:
        entries.append((legend.rule("k-whisker k-l0", shape="circle", marked="k-hollow k-l0"), "plain"))
    entries += [(legend.rule("k-base", upright=True), "Base")] if known else []
    if decided(board):
        entries.append((legend.mark("star", "k-star"), "best"))
        if sum(standing.tied for standing in board.standings) > len(leading(board)):
            entries.append((legend.patch("k-band", "k-grid"), "≈ not told from the best"))
    return entries


def _bands(drawing: Drawing, groups: dict[str, list[Standing]], y: float) -> None:
    """Behind the names of configurations an arm of which is tied with the best."""
    for group in groups.values():
        if any(standing.tied for standing in group):
            drawing.rect((2, y + 2, drawing.width - 4, _height(group) - 4), "k-band", round=5)
        y += _height(group)


def _arms(drawing: Drawing, scale: Scale, y: float, look: Look, group: Sequence[Standing], *, best: Sequence[Standing]) -> None:
    """``best``: those of the board; none where nobody is."""
    colour, mark = look
    interval.rules(drawing, scale, y, y + interval.LINE * len(group) + 3)
    y += interval.LINE / 2 + 1
    for standing in sorted(group, key=lambda found: found.contender.arm):
        with drawing.titled(_told(standing)):
            found = base(standing)
            if found is not None:
                drawing.line((scale(found), y - 10), (scale(found), y + 10), "k-base")
            filled = f"k-s{colour}" if standing.contender.arm == "experience" else "k-hollow"
            interval.dot(drawing, scale, y, standing.mean, look=f"k-l{colour}", mark=f"k-solid {filled} k-l{colour}", shape=mark)
            interval.figures(drawing, y, standing.mean.text(), strong=bool(best) and standing.tied)
            if best:
                _sign(drawing, scale.end + _SIGN / 2, y, standing, best)
        y += interval.LINE


def _sign(drawing: Drawing, x: float, y: float, standing: Standing, best: Sequence[Standing]) -> None:
    """A star for the best, a sign for those that cannot be told from it."""
    if any(standing is one for one in best):
        drawing.marker("star", (x, y), "k-star", size=5)
    elif standing.tied and standing.versus_best is not None:
        drawing.text((x, y + 5), "≈", "k-strong", anchor="middle", size=TEXT)


def _told(standing: Standing) -> str:
    found = base(standing)
    from_base = "" if found is None else f"; Base {tenths(found)}"
    return f"{standing.contender.name}: mean {standing.mean.text()}, interquartile mean {standing.iqm.text()}{from_base}"
