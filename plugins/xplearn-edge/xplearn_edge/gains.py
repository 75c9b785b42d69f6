"""What experience gained: how much better a group did with it than without."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xplearn import Arm, Trajectory
from xplearn.learning.credit import Reward, worth


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The trajectories of one task and round that could be played to their end."""

    id: str
    experience: tuple[Trajectory, ...]
    """Played with experience in reach; what was shown may still be nothing."""
    plain: tuple[Trajectory, ...]

    @property
    def whole(self) -> bool:
        """Both arms have a trajectory."""
        return bool(self.experience) and bool(self.plain)

    def gain(self, reward: Reward) -> float | None:
        """``Delta_e`` [P]: mean reward with experience minus mean reward without; None where an arm is empty."""
        if not self.whole:
            return None
        return _mean(self.experience, reward) - _mean(self.plain, reward)


def groups(batch: Iterable[Trajectory]) -> list[Group]:
    """The groups of a batch in order of appearance. Trajectories with an error, without steps, or shown by the expert are left out."""
    found: dict[str, dict[Arm, list[Trajectory]]] = {}
    for item in batch:
        if item.error is None and item.steps and item.source == "rollout":
            found.setdefault(item.group, {"experience": [], "plain": []})[item.arm].append(item)
    return [Group(id=id, experience=tuple(arms["experience"]), plain=tuple(arms["plain"])) for id, arms in found.items()]


def gained(found: Sequence[Group], reward: Reward) -> dict[str, float]:
    """``groups`` with both arms, ``groups_one_armed`` beside them, and only where some have both their mean gain, ``gain_mean``."""
    gains = [gain for group in found if (gain := group.gain(reward)) is not None]
    figures = {"groups": float(len(gains)), "groups_one_armed": float(len(found) - len(gains))}
    return {"gain_mean": math.fsum(gains) / len(gains), **figures} if gains else figures


def _mean(items: Sequence[Trajectory], reward: Reward) -> float:
    return math.fsum(worth(item, reward) for item in items) / len(items)
