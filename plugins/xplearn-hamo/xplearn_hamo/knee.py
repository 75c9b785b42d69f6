"""Where more anchors stop paying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np

Draw = Literal["greedy", "random"]
"""Who chooses: what covers most, or chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCurve:
    """How coverage saturates as anchors are added, up to the last that gains anything."""

    cards: int
    """Cards in the pool: how many there are to cover."""
    ids: tuple[str, ...]
    """Anchors in the order chosen."""
    gains: tuple[int, ...]
    """Cards that each was the first to cover."""
    knee: int
    """Anchors at the knee; 0 where nothing can be chosen."""
    kept: int
    """Anchors selected: the first so many, or as many at random."""
    draw: Draw = "greedy"
    """Which of the two."""

    @property
    def covered(self) -> tuple[int, ...]:
        """Cards covered by the first 1, 2, … anchors."""
        return tuple(accumulate(self.gains))


def knee(gains: Sequence[int]) -> int:
    """The number of anchors at which the curve stands highest above the straight line from none to all of them.

    Kneedle for a concave curve: with both axes scaled to 1, where coverage less share of anchors is largest; at least 1, the
    smaller of equals. A curve as straight as the line has no knee, and gets 1. Computed in integers, so equals are equal.

    Args:
        gains: of each anchor in turn, never negative and never growing.

    Returns:
        0 where there is no anchor, else at least 1.
    """
    if len(gains) == 0:
        return 0
    covered = np.cumsum(np.asarray(gains, dtype=np.int64))
    numbers = np.arange(1, len(covered) + 1)
    return int(np.argmax(covered * len(covered) - numbers * covered[-1])) + 1
