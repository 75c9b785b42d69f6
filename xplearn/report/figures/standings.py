"""The leaderboard: a dot and an interval for each contender."""

from __future__ import annotations

from xplearn.metrics.board import Board
from xplearn.report.figure import Figure


def leaderboard(board: Board, *, name: str = "leaderboard") -> Figure | None:
    """Mean scores with their intervals, the best configuration first, both arms of one next to each other; Base is a line.

    Args:
        board: None is drawn of a board without standings.
        name: of the figure.
    """
    return None
