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


def winner(board: Board) -> tuple[str, str]:
    """Who is best, or ``none``, and what must be known of it; both empty of fewer than two contenders."""
    first, count, mean = leading(board), len(board.standings), tenths(board.standings[0].mean.mean) if board.standings else ""
    if count < 2:
        return "", ""
    if decided(board):
        tied = sum(standing.tied for standing in board.standings) - sum(standing.tied for standing in first)
        more = f"; {tied} more {'is' if tied == 1 else 'are'} not told from {'it' if len(first) == 1 else 'them'}" if tied else ""
        return _named(first), f"with {mean}{more}"
    if len(first) == count:
        return "none", f"{'both' if count == 2 else f'all {count}'} scored {mean}"
    return "none", f"of {count} none is told apart from the highest mean, {mean}"


def verdict(board: Board) -> str:
    """The same in a sentence."""
    name, known = winner(board)
    if not name:
        return ""
    return f"{name} {'is' if len(leading(board)) == 1 else 'are'} best {known}." if decided(board) else f"None is best: {known}."


def _named(found: list[Standing]) -> str:
    names = [standing.contender.name for standing in found]
    if len(names) > MOST_NAMES:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(names)


def _mean(standing: Standing) -> float:
    return round(standing.mean.mean, NOISE)
