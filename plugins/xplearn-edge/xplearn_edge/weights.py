"""What a student's own turns are to learn from its teacher: a weight for each step of the trajectories played without experience."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from xplearn import Step, Trajectory
from xplearn.learning.credit import Reward, observation, worth
from xplearn_edge.gains import Group

Gain = Literal["trajectory", "same_anchor"]
"""Measured over the trajectories of a group [P], or at each observation that both arms met [C]."""

Weight = Literal["gate", "gain"]
"""1 where there is a gain [P], or the gain itself."""


def step_weights(found: Iterable[Group], *, gain: Gain, weight: Weight, reward: Reward) -> dict[str, tuple[float, ...]]:
    """By id of a plain trajectory the weight of each of its steps; those without any weight are left out."""
    by_step = _anchored if gain == "same_anchor" else _whole
    lessons: dict[str, tuple[float, ...]] = {}
    for group in found:
        if group.whole:
            lessons |= by_step(group, weight, reward)
    return {id: steps for id, steps in lessons.items() if any(steps)}


def _whole(group: Group, weight: Weight, reward: Reward) -> dict[str, tuple[float, ...]]:
    """Every step of every plain trajectory alike: ``1[Delta_e > 0]``, or ``max(0, Delta_e)``."""
    gain = max(group.gain(reward) or 0.0, 0.0)
    value = float(gain > 0) if weight == "gate" else gain
    return {item.id: (value,) * len(item.steps) for item in group.plain}


def _anchored(group: Group, weight: Weight, reward: Reward) -> dict[str, tuple[float, ...]]:
    """Steps of failing plain trajectories at observations from which experience did better [C].

    With S the best reward of an arm's trajectories that met the observation: ``1[S_with > 0 and S_without <= 0]``, or
    ``max(0, S_with - S_without)``.
    """
    best, without = _best(group.experience, reward), _best(group.plain, reward)

    def at(step: Step) -> float:
        seen = observation(step.query.messages)
        if seen not in best:
            return 0.0
        if weight == "gate":
            return float(best[seen] > 0 and without[seen] <= 0)
        return max(best[seen] - without[seen], 0.0)

    return {item.id: tuple(map(at, item.steps)) for item in group.plain if worth(item, reward) <= 0}


def _best(items: Sequence[Trajectory], reward: Reward) -> Mapping[str, float]:
    """By observation, the best reward of the trajectories that met it."""
    found: dict[str, float] = {}
    for item in items:
        value = worth(item, reward)
        for step in item.steps:
            seen = observation(step.query.messages)
            found[seen] = max(found.get(seen, value), value)
    return found
