"""Leaderboards as tables."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.metrics.board import Board
from xplearn.report.figure import Sheet


def leaderboard_sheet(board: Board, *, name: str = "leaderboard-table") -> Sheet | None:
    """Rank, contender, mean, interquartile mean, and differences from Base and from the plain arm; those tied with the best are marked."""
    return None


def differences_sheet(board: Board, *, name: str = "differences-table") -> Sheet | None:
    """Every paired difference with its interval, both p values, and the tasks that got better and worse."""
    return None


def environments_sheet(boards: Sequence[Board], *, name: str = "environments-table") -> Sheet | None:
    """Version and evaluated tasks of every domain, and the smallest difference that its board can detect."""
    return None
