"""Differences and winners as tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xplearn.metrics.board import Board, Difference, Standing
from xplearn.report.figure import Cell, Sheet
from xplearn.report.verdict import decided


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
    told = [number for number, found in enumerate(_differences(board)) if found.p_holm < board.level]
    return Sheet(
        name=name,
        title=f"Paired differences: {board.title}",
        caption=(
            f"In points with {100 * board.confidence:g} % intervals over {board.over}. p: two-sided paired permutation test over tasks, "
            "for the seeds that were run; Holm: corrected for all that are against the same. "
            f"{'Marked: below' if told else 'None is below'} {board.level:.3g} then."
        ),
        columns=("contender", "against", "difference", "p", "p (Holm)", "tasks better", "tasks worse", "tasks"),
        rows=rows,
        signed=(2,),
        strong=[(row, 2) for row in told],
    )


def contest_sheet(everywhere: Board, boards: Sequence[Board], *, name: str = "contest-table") -> Sheet | None:
    """Who wins where: a row for each contender, a column for each board; the best of each, if any, and its ties stand out.

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
    won = [at for at, board in enumerate(columns) if decided(board)]
    strong = [(row, 1 + at) for row, key in enumerate(keys) for at in won if key in found[at] and found[at][key].tied]
    return Sheet(
        name=name,
        title="Who wins where",
        caption=(f"Mean score, 0 to 100, with {100 * everywhere.confidence:g} % bootstrap intervals. {_marks(len(won), len(columns))}"),
        columns=("contender", *(board.title for board in columns)),
        rows=[[names[key], *(by_key[key].mean if key in by_key else None for by_key in found)] for key in keys],
        strong=strong,
    )


def _marks(won: int, columns: int) -> str:
    marked = "Marked in each column: the best, and what is not told from it after Holm's correction." if won else ""
    unmarked = "A column without a mark has no best: nothing in it is told apart from its highest mean." if won < columns else ""
    return f"{marked} {unmarked}".strip()


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
