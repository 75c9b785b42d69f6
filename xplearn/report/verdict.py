"""Whether a board has a best: what may be marked on it, and what is said where nothing may."""

from __future__ import annotations

from xplearn.metrics.board import Board, Standing
from xplearn.metrics.digits import NOISE, tenths

MOST_NAMES = 2
"""Of several that share the highest mean."""


def leading(board: Board) -> list[Standing]:
    """Those of the highest mean: one, or several that are equal."""
    return [standing for standing in board.standings if _mean(standing) == _mean(board.standings[0])]


def decided(board: Board) -> bool:
    """Whether any contender is told from the one of the highest mean; else nobody won, and nothing is marked."""
    return not all(standing.tied for standing in board.standings)


def verdict(board: Board) -> str:
    """Who is best, in a sentence, or that nobody is; empty of fewer than two contenders."""
    first, count = leading(board), len(board.standings)
    if count < 2:
        return ""
    if decided(board):
        tied = sum(standing.tied for standing in board.standings) - sum(standing.tied for standing in first)
        more = f"; {tied} more {'is' if tied == 1 else 'are'} not told from {'it' if len(first) == 1 else 'them'}" if tied else ""
        return f"{_named(first)} {'is' if len(first) == 1 else 'are'} best with {tenths(board.standings[0].mean.mean)}{more}."
    if len(first) == count:
        return f"{'Both' if count == 2 else f'All {count}'} scored {tenths(board.standings[0].mean.mean)}: none is best."
    return f"None is best: of the {count} none is told apart from the highest mean, {tenths(board.standings[0].mean.mean)}."


def _named(found: list[Standing]) -> str:
    names = [standing.contender.name for standing in found]
    if len(names) > MOST_NAMES:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(names)


def _mean(standing: Standing) -> float:
    return round(standing.mean.mean, NOISE)
