"""Retention: what stays of a score when the bank is taken away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xplearn.metrics.board import Board
from xplearn.metrics.bootstrap import Bootstrap, Interval
from xplearn.metrics.crossed import Estimator, grids
from xplearn.report.figure import Figure
from xplearn.report.figures import interval, legend
from xplearn.report.figures.kit import Drawing
from xplearn.report.figures.scale import Scale
from xplearn.report.figures.standings import configuration
from xplearn.report.figures.words import BOLD, TEXT, apart

MOST = 200.0
"""Percent at which the axis ends: a ratio of small scores knows no bounds."""
_ROW = interval.NAME + interval.LINE + 4.0
_TITLE = 26.0

Rows = Mapping[str, Interval]


def retention(boards: Sequence[Board], *, name: str = "retention") -> Figure | None:
    """Score without the bank over score with it, in percent, with intervals and a line at 100 %.

    Args:
        boards: None is drawn where no contender was played in both arms.
        name: of the figure.
    """
    found = [(board, rows) for board in boards if (rows := retained(board))]
    if not found:
        return None
    drawing = Drawing()
    entries: list[legend.Entry] = [
        (legend.patch("k-s0 k-wash", "k-thin k-l0"), "kept without the bank"),
        (legend.rule("k-zero", upright=True), "100 %: the bank adds nothing"),
    ]
    top = legend.legend(drawing, entries, 2.0) + 4.0
    titles = _TITLE if len(found) > 1 else 0.0
    end = top + interval.HEAD + sum(titles + _ROW * len(rows) for _, rows in found)
    highest = max([100.0, *interval.bounds([row for _, rows in found for row in rows.values()])])
    room = interval.room([f"{row.text()} %" for _, rows in found for row in rows.values()])
    scale = Scale(0.0, min(MOST, 20.0 * -(-highest // 20.0)), interval.LEFT, drawing.width - room)
    interval.axis(drawing, scale, top, end)
    y = top + interval.HEAD
    for board, rows in found:
        if titles:
            drawing.text((8, y + 19), board.title, "k-muted", size=TEXT, room=drawing.width - 16)
        y += titles
        for (label, row), short in zip(rows.items(), apart(list(rows), drawing.width - 16, TEXT * BOLD), strict=True):
            _row(drawing, scale, y, (label, short), row)
            y += _ROW
    level = 100 * found[0][0].confidence
    caption = (
        f"Score of the plain arm over that of the experience arm, same policy, in percent, with {level:g} % bootstrap intervals over tasks."
    )
    return drawing.figure(interval.foot(top, end), name=name, title="Retention: what stays without the bank", caption=caption)


def retained(board: Board) -> dict[str, Interval]:
    """Retention by configuration, in the board's order, over the seeds that both arms have."""
    estimator = Estimator(Bootstrap(confidence=board.confidence))
    found: dict[str, Interval] = {}
    for standing in board.standings:
        contender = standing.contender
        arms = grids(contender.plain, contender.scores) if contender.arm == "experience" else []
        kept = estimator.retention(*arms) if arms else None
        found |= {} if kept is None else {configuration(contender): kept}
    return found


def _row(drawing: Drawing, scale: Scale, y: float, called: tuple[str, str], row: Interval) -> None:
    """``called``: its name, and what is shown of it."""
    label, short = called
    with drawing.titled(f"{label}: {row.text()} %"):
        drawing.text((8, y + 17), label, "k-strong", size=TEXT, short=short)
        y += interval.NAME
        interval.rules(drawing, scale, y, y + interval.LINE)
        end = scale(row.mean)
        drawing.rect((scale.start, y + 4, max(1.0, end - scale.start), 13), "k-s0 k-wash")
        drawing.line((end, y + 4), (end, y + 17), "k-thin k-l0")
        if row.low is not None and row.high is not None:
            drawing.line((scale(row.low), y + 10.5), (scale(row.high), y + 10.5), "k-whisker k-ink")
        drawing.line((scale(100.0), y), (scale(100.0), y + interval.LINE), "k-zero")
        interval.figures(drawing, y + 10, f"{row.text()} %")
