"""Leaderboards as tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xplearn.metrics.board import Board, Difference, Standing
from xplearn.report.figure import Cell, Sheet
from xplearn.report.figures.standings import ranks


def leaderboard_sheet(board: Board, *, name: str = "leaderboard-table") -> Sheet | None:
    """Rank, contender, mean, interquartile mean, and differences from Base and from the plain arm; those tied with the best are marked."""
    if not board.standings:
        return None
    columns = ("#", "contender", "arm", "seeds", "mean", "IQM", "vs Base", "vs plain", "worse tasks", "tied")
    places = ranks([standing.mean.mean for standing in board.standings])
    rows = [_standing(board, place, standing) for place, standing in zip(places, board.standings, strict=True)]
    return Sheet(
        name=name,
        title=f"Leaderboard: {board.title}",
        caption=(
            f"Score, 0 to 100, with {100 * board.confidence:g} % bootstrap intervals over {board.over}; each arm has a rank of its own, "
            "equal means an equal one. IQM: interquartile mean; differences are paired, in points; worse tasks: below Base. Tied, and "
            f"marked: not told apart from the best after Holm's correction. {detectable(board)}".strip()
        ),
        columns=columns,
        rows=rows,
        marked=[number for number, standing in enumerate(board.standings) if standing.tied],
        signed=(6, 7),
    )


def detectable(board: Board) -> str:
    """What the panel can find, in a sentence; empty where nothing is known."""
    if board.detectable is None:
        return ""
    return (
        f"A true difference of {board.detectable:.1f} points is found four times in five by a single test, a smaller one less often (the "
        "median over the pairs compared here); that speaks of other tasks, not of other seeds."
    )


def differences_sheet(board: Board, *, name: str = "differences-table") -> Sheet | None:
    """Every paired difference with its interval, both p values, and the tasks that got better and worse."""
    rows = [
        [standing.contender.name, against, *difference_cells(found)]
        for standing in board.standings
        for against, found in (("Base", standing.versus_base), ("plain", standing.versus_plain), ("best", standing.versus_best))
        if found is not None
    ]
    if not rows:
        return None
    return Sheet(
        name=name,
        title=f"Paired differences: {board.title}",
        caption=(
            f"In points with {100 * board.confidence:g} % intervals over {board.over}. p: two-sided paired permutation test over tasks, "
            f"for the seeds that were run; Holm: corrected for all that are against the same. Marked: below {board.level:.3g} then."
        ),
        columns=("contender", "against", "difference", "p", "p (Holm)", "tasks better", "tasks worse", "tasks"),
        rows=rows,
        marked=[number for number, found in enumerate(_differences(board)) if found.p_holm < board.level],
        signed=(2,),
    )


def contest_sheet(everywhere: Board, boards: Sequence[Board], *, name: str = "contest-table") -> Sheet | None:
    """Who wins where: a row for each contender, a column for each board; the best of a board and what is tied with it stand out.

    Args:
        everywhere: the board across the others; those that stand on it come first.
        boards: the others.
        name: of the sheet.
    """
    columns = [everywhere, *boards]
    axes = {axis for standing in everywhere.standings for axis in standing.contender.axes}
    found = [{_key(standing, axes): standing for standing in board.standings} for board in columns]
    names = {key: standing.contender.name for by_key in reversed(found) for key, standing in by_key.items()}
    keys = list(dict.fromkeys(key for by_key in found for key in by_key))
    if not keys:
        return None
    strong = [(row, 1 + at) for row, key in enumerate(keys) for at, by_key in enumerate(found) if key in by_key and by_key[key].tied]
    return Sheet(
        name=name,
        title="Who wins where",
        caption=(
            f"Mean score, 0 to 100, with {100 * everywhere.confidence:g} % bootstrap intervals. Marked in each column: the best, and what "
            "cannot be told from it after Holm's correction."
        ),
        columns=("contender", *(board.title for board in columns)),
        rows=[[names[key], *(by_key[key].mean if key in by_key else None for by_key in found)] for key in keys],
        strong=strong,
    )


def _standing(board: Board, rank: int, standing: Standing) -> list[Cell]:
    contender, base, plain = standing.contender, standing.versus_base, standing.versus_plain
    return [
        rank,
        contender.name,
        contender.arm,
        len(contender.scores),
        standing.mean,
        standing.iqm,
        base.interval if base is not None else None,
        plain.interval if plain is not None else None,
        f"{base.worse} of {base.tasks}" if base is not None else None,
        "best" if standing is board.standings[0] else _tied(standing),
    ]


def _tied(standing: Standing) -> str:
    return "not compared" if standing.versus_best is None else "yes" if standing.tied else "no"


def _differences(board: Board) -> list[Difference]:
    found = [one for standing in board.standings for one in (standing.versus_base, standing.versus_plain, standing.versus_best)]
    return [one for one in found if one is not None]


def difference_cells(found: Difference) -> list[Cell]:
    """Its interval, both p, and the tasks that are better, worse, and all."""
    return [found.interval, _p(found.p), _p(found.p_holm), found.better, found.worse, found.tasks]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _key(standing: Standing, axes: Collection[str]) -> tuple[object, ...]:
    """The same for a contender on every board."""
    contender = standing.contender
    labels = tuple((axis, label) for axis, label in sorted(contender.axes.items()) if axis in axes)
    return contender.arm, labels or contender.name
