"""How much better a trajectory, or one of its steps, did than its group: the signal of group-relative methods."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import chain, islice
from typing import Literal

Scale = Literal["group", "batch", "none"]
"""What a difference from the group's mean is divided by: the spread of the group, of the whole batch, or nothing."""

_FLOOR = 1e-4
"""Added to every spread, as TRL does."""


def advantages(returns: Sequence[float], groups: Sequence[Hashable], *, scale: Scale = "group") -> list[float]:
    """Return minus the mean of the group, over the standard deviation (of a sample: n - 1) plus 1e-4.

    Exactly 0 for every member of a group without variance, a group of one included.

    Args:
        returns: one per member.
        groups: the group of each; groups may differ in size.
        scale: whose standard deviation.
    """
    members = _members(groups)
    spread = std(returns)
    found = [0.0] * len(returns)
    for rows in members.values():
        group = [returns[row] for row in rows]
        if _flat(group):
            continue
        middle = mean(group)
        divisor = 1.0 if scale == "none" else (std(group) if scale == "group" else spread) + _FLOOR
        for row in rows:
            found[row] = (returns[row] - middle) / divisor
    return found


def step_advantages(
    returns: Sequence[Sequence[float]], groups: Sequence[Sequence[Hashable]], *, scale: Scale = "group"
) -> list[tuple[float, ...]]:
    """As ``advantages``, where each of several trajectories has members of a group of its own, e.g. its steps.

    Args:
        returns: one for each member of each trajectory.
        groups: the group of each.
        scale: whose standard deviation.
    """
    found = iter(advantages([*chain.from_iterable(returns)], [*chain.from_iterable(groups)], scale=scale))
    return [tuple(islice(found, len(row))) for row in returns]


def groups_without_variance(returns: Sequence[float], groups: Sequence[Hashable]) -> int:
    """How many groups have nothing to tell: all their returns are the same."""
    return sum(_flat([returns[row] for row in rows]) for rows in _members(groups).values())


def mean(values: Sequence[float]) -> float:
    """0 for no values."""
    return math.fsum(values) / max(len(values), 1)


def std(values: Sequence[float]) -> float:
    """Standard deviation of a sample (n - 1); 0 for fewer than two values."""
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / max(len(values) - 1, 1))


def _members(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        found.setdefault(group, []).append(row)
    return found


def _flat(values: Sequence[float]) -> bool:
    return max(values) == min(values)
