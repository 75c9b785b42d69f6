"""The forest plot: paired differences with their intervals around a zero line."""

from __future__ import annotations

from typing import Literal

from xplearn.metrics.board import Board
from xplearn.report.figure import Figure

Versus = Literal["base", "plain", "best"]


def forest(board: Board, versus: Versus = "base", *, name: str = "") -> Figure | None:
    """Paired differences in points, in the board's order, with what Holm's correction leaves of them and the tasks that got worse.

    Args:
        board: None is drawn where no standing has this difference.
        versus: what each is compared with: Base, its own plain arm, or the best.
        name: of the figure, by default ``forest-base`` and so on.
    """
    return None
