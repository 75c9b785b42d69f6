"""What experience has proved worth: gains gathered over a window, then a moving average. Pure functions of numbers or arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xplearn.learning.credit import Reward
from xplearn_edge.gains import Group

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def moved(utility: ArrayLike, gain: ArrayLike, mu: float) -> NDArray[np.float64]:
    """``(1 - mu) U + mu Delta`` [P].

    Args:
        utility: ``U`` so far, in units of reward.
        gain: ``Delta``, in the same unit; the mean over a window's groups.
        mu: how much of the new replaces the old, in [0, 1].
    """
    return (1.0 - mu) * np.asarray(utility, dtype=np.float64) + mu * np.asarray(gain, dtype=np.float64)


def streak(negative: ArrayLike, gain: ArrayLike) -> NDArray[np.int64]:
    """How many windows in a row had a mean gain below 0, this one included: one that had not, or had no gain (NaN), ends the row [C]."""
    return np.where(np.asarray(gain) < 0.0, np.asarray(negative, dtype=np.int64) + 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """What one step tells about the experience it showed."""

    uses: Mapping[str, int]
    """By id, in how many trajectories of experience arms it was shown, whether or not there was a gain."""
    gains: Mapping[str, Sequence[float]]
    """By id, the gain of each group with both arms in which it was shown: once a group, however often it was shown there."""


def exposure(groups: Iterable[Group], reward: Reward) -> Exposure:
    """Uses and gains of every experience that the groups were shown, at any step of any trajectory."""
    uses: dict[str, int] = {}
    gains: dict[str, list[float]] = {}
    for group in groups:
        gain, seen = group.gain(reward), dict[str, int]()
        for trajectory in group.experience:
            shown = dict.fromkeys(found.id for step in trajectory.steps for found in step.selection.experiences)
            seen.update({id: seen.get(id, 0) + 1 for id in shown})
        for id, count in seen.items():
            uses[id] = uses.get(id, 0) + count
            if gain is not None:
                gains.setdefault(id, []).append(gain)
    return Exposure(uses=uses, gains=gains)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The gains of some steps in a row, gathered until they are worth a verdict."""

    steps: int = 0
    """Steps gathered."""
    sums: Mapping[str, float] = field(default_factory=dict)
    """By id, the sum of its groups' gains."""
    groups: Mapping[str, int] = field(default_factory=dict)
    """By id, how many groups they are."""

    def with_step(self, gains: Mapping[str, Sequence[float]]) -> Window:
        """This window and one more step."""
        sums, groups = dict(self.sums), dict(self.groups)
        for id, found in gains.items():
            sums[id] = sums.get(id, 0.0) + sum(found)
            groups[id] = groups.get(id, 0) + len(found)
        return Window(steps=self.steps + 1, sums=sums, groups=groups)

    def mean(self, id: str) -> float:
        """Mean gain over the groups that were shown it; NaN where none was."""
        return self.sums[id] / self.groups[id] if id in self.groups else float("nan")

    def state(self) -> dict[str, Any]:
        """As JSON values."""
        return {"steps": self.steps, "sums": dict(self.sums), "groups": dict(self.groups)}
