"""Leaderboards as tables."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.metrics.board import Board, Difference, Standing
from xplearn.report.figure import Cell, Sheet


def leaderboard_sheet(board: Board, *, name: str = "leaderboard-table") -> Sheet | None:
    """Rank, contender, mean, interquartile mean, and differences from Base and from the plain arm; those tied with the best are marked."""
    if not board.standings:
        return None
    columns = ("#", "contender", "arm", "seeds", "mean", "IQM", "vs Base", "vs plain", "tasks worse than Base", "tied with the best")
    rows = [_standing(number, standing) for number, standing in enumerate(board.standings, start=1)]
    detectable = "" if board.detectable is None else f"; a paired difference under {board.detectable:.1f} is too small for this panel"
    return Sheet(
        name=name,
        title=f"Leaderboard: {board.title}",
        caption=(
            f"Score, 0 to 100, with {100 * board.confidence:g} % bootstrap intervals over tasks and seeds. IQM: interquartile mean; "
            f"differences are paired, in points. Marked: not told apart from the best after Holm's correction{detectable}."
        ),
        columns=columns,
        rows=rows,
        marked=[number for number, standing in enumerate(board.standings) if standing.tied],
        signed=(6, 7),
    )


def differences_sheet(board: Board, *, name: str = "differences-table") -> Sheet | None:
    """Every paired difference with its interval, both p values, and the tasks that got better and worse."""
    rows = [
        [standing.contender.name, against, *_difference(found)]
        for standing in board.standings
        for against, found in (("Base", standing.versus_base), ("plain", standing.versus_plain), ("best", standing.versus_best))
        if found is not None
    ]
    if not rows:
        return None
    level = 1.0 - board.confidence
    return Sheet(
        name=name,
        title=f"Paired differences: {board.title}",
        caption=(
            f"In points with {100 * board.confidence:g} % bootstrap intervals. p: two-sided paired permutation test over tasks; Holm: "
            f"after Holm's correction over the board. Marked: below {level:.3g} after it."
        ),
        columns=("contender", "against", "difference", "p", "p (Holm)", "tasks better", "tasks worse", "tasks"),
        rows=rows,
        marked=[number for number, found in enumerate(_differences(board)) if found.p_holm < level],
        signed=(2,),
    )


def environments_sheet(boards: Sequence[Board], *, name: str = "environments-table") -> Sheet | None:
    """Version and evaluated tasks of every domain, and the smallest difference that its board can detect."""
    rows: list[list[Cell]] = [
        [board.title, domain, tasks, board.environments.get(domain), board.detectable]
        for board in boards
        for domain, tasks in board.panel.items()
    ]
    if not rows:
        return None
    return Sheet(
        name=name,
        title="Environments",
        caption="Detectable: smallest paired difference, in points, that a test on the board's panel finds four times in five.",
        columns=("board", "domain", "tasks", "version", "detectable"),
        rows=rows,
    )


def _standing(rank: int, standing: Standing) -> list[Cell]:
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
        "best" if standing.versus_best is None else "yes" if standing.tied else "no",
    ]


def _differences(board: Board) -> list[Difference]:
    found = [one for standing in board.standings for one in (standing.versus_base, standing.versus_plain, standing.versus_best)]
    return [one for one in found if one is not None]


def _difference(found: Difference) -> list[Cell]:
    return [found.interval, _p(found.p), _p(found.p_holm), found.better, found.worse, found.tasks]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
