"""Which experience goes: what has proved harmful, and what a full pool has no room for. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xplearn_edge.ucb import worth

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When experience is harmful: all four together, as in the released code [C], which has -0.25, 5, 2 and 20."""

    below: float | None
    """``U`` is strictly below this; None: nothing is harmful."""
    min_uses: int = 0
    """It was shown in at least so many trajectories."""
    negative_windows: int = 0
    """Its last so many windows all had a mean gain below 0."""
    min_age: int = 0
    """It was made more than so many steps ago."""

    def harmful(self, utility: ArrayLike, uses: ArrayLike, negative: ArrayLike, age: ArrayLike) -> NDArray[np.bool_]:
        """Where all conditions hold, for arrays that broadcast.

        Args:
            utility: ``U``, in units of reward.
            uses: trajectories that showed it.
            negative: windows with a mean gain below 0, in a row.
            age: steps since it was made.
        """
        if self.below is None:
            return np.zeros(np.broadcast(utility, uses, negative, age).shape, dtype=np.bool_)
        held = np.asarray(utility, dtype=np.float64) < self.below
        held = held & (np.asarray(uses) >= self.min_uses) & (np.asarray(negative) >= self.negative_windows)
        return np.asarray(held & (np.asarray(age) > self.min_age))


def surplus(utility: ArrayLike, uses: ArrayLike, count: int, *, ucb: float) -> NDArray[np.intp]:
    """Which ``count`` entries of a pool go: those of the lowest ``U + ucb * sqrt(log(1 + N) / (1 + n))`` [C], at a tie the older.

    Args:
        utility: ``[N]``, in units of reward.
        uses: ``[N]``, trajectories that showed each.
        count: how many are too many.
        ucb: weight of what little is known of an entry.
    """
    return np.argsort(worth(utility, uses, ucb=ucb), kind="stable")[: max(count, 0)]
