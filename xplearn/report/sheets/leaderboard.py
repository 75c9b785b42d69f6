"""The leaderboard as a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from xplearn.metrics.board import Board, Difference, Standing
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Cell, Sheet
from xplearn.report.figures.standings import ranks
from xplearn.report.verdict import decided, leading, verdict

MARKED = "Marked: the best, and what is not told from it after Holm's correction."
SPARE = ("arm", "seeds", "worse tasks")
"""Columns that a narrow terminal can do without, the first before the others."""


class _Column(NamedTuple):
    name: str
    cells: Sequence[Cell]
    said: str = ""
    """What a reader must know of it."""
    signed: bool = False


def leaderboard_sheet(board: Board, *, name: str = "leaderboard-table", without: Collection[str] = ()) -> Sheet | None:
    """Rank, contender, mean, interquartile mean, and differences from Base and from the plain arm, as far as there are such.

    Where there is a best, its mean and those that are not told from it are marked; nothing is where nobody is told from anybody.

    Args:
        board: None is made of one without standings.
        name: of the sheet.
        without: names of columns that there is no room for.
    """
    if not board.standings:
        return None
    columns = [column for column in _columns(board) if column.name not in without and any(cell is not None for cell in column.cells)]
    names = [column.name for column in columns]
    tied = [number for number, standing in enumerate(board.standings) if standing.tied] if decided(board) else []
    explained = "; ".join(column.said for column in columns if column.said)
    parts = [
        f"Score, 0 to 100, with {100 * board.confidence:g} % bootstrap intervals over {board.over}.",
        f"{explained[:1].upper()}{explained[1:]}." if explained else "",
        MARKED if tied else verdict(board),
        detectable(board),
    ]
    return Sheet(
        name=name,
        title=f"Leaderboard: {board.title}",
        caption=" ".join(filter(None, parts)),
        columns=names,
        rows=list(zip(*(column.cells for column in columns), strict=True)),
        signed=[number for number, column in enumerate(columns) if column.signed],
        strong=[(row, names.index("mean")) for row in tied],
        spare=SPARE,
    )


def detectable(board: Board) -> str:
    """What the panel can find, in a sentence; empty where nothing is known."""
    if board.detectable is None:
        return ""
    return (
        f"A true difference of {tenths(board.detectable)} points is found four times in five by a single test, a smaller one less often "
        "(the median over the pairs compared here); that speaks of other tasks, not of other seeds."
    )


def _columns(board: Board) -> list[_Column]:
    standings = board.standings
    places = ranks([standing.mean.mean for standing in standings])
    alike = "equal means have an equal rank" if len(set(places)) < len(places) else ""
    base, plain = ([found.versus_base for found in standings], [found.versus_plain for found in standings])
    paired = "differences are paired, in points"
    return [
        _Column("#", places, alike),
        _Column("contender", [found.contender.name for found in standings]),
        _Column("arm", [found.contender.arm for found in standings]),
        _Column("seeds", [len(found.contender.scores) for found in standings]),
        _Column("mean", [found.mean for found in standings]),
        _Column("IQM", [found.iqm for found in standings], "IQM: interquartile mean"),
        _Column("vs Base", [None if found is None else found.interval for found in base], paired, signed=True),
        _Column("vs plain", [None if found is None else found.interval for found in plain], "" if any(base) else paired, signed=True),
        _Column("worse tasks", list(map(_worse, base)), "worse tasks: below Base"),
        _Column("tied", _tied(board)),
    ]


def _worse(found: Difference | None) -> str | None:
    return None if found is None else f"{found.worse} of {found.tasks}"


def _tied(board: Board) -> list[Cell]:
    """Who is best and who is not told from it; where nobody is best, only who was not compared."""
    first, known = len(leading(board)), decided(board)
    return [_word(board, standing, known=known, best=place < first) for place, standing in enumerate(board.standings)]


def _word(board: Board, standing: Standing, *, known: bool, best: bool) -> str | None:
    if known and best:
        return "best"
    if standing.versus_best is None and standing is not board.standings[0]:
        return "not compared"
    return None if not known else "yes" if standing.tied else "no"
