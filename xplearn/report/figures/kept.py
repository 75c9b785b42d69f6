"""Retention: what stays of a score when the bank is taken away."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.metrics.board import Board
from xplearn.report.figure import Figure


def retention(boards: Sequence[Board], *, name: str = "retention") -> Figure | None:
    """Score without the bank over score with it, in percent, with intervals and a line at 100 %.

    Args:
        boards: None is drawn where no contender was played in both arms.
        name: of the figure.
    """
    return None
