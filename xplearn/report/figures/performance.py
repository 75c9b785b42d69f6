"""Performance profiles: which share of the scores lies above each threshold."""

from __future__ import annotations

from collections.abc import Mapping

from xplearn.metrics.board import Board
from xplearn.metrics.bootstrap import Array
from xplearn.report.figure import Figure


def profiles(board: Board, bands: Mapping[str, tuple[Array, Array]] | None = None, *, name: str = "profiles") -> Figure | None:
    """Each contender's profile over the board's thresholds. Source: Agarwal et al. (2021), figure 3.

    Args:
        board: None is drawn where no standing has a profile.
        bands: lower and upper bound of the profiles by contender, ``[thresholds]`` each; those of the leading ones are shown.
        name: of the figure.
    """
    return None
