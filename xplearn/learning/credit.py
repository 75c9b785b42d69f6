"""What a trajectory and each of its steps are worth, and what they have in common with others: the data of an advantage."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal

from xplearn.types import Message, Trajectory

if TYPE_CHECKING:
    from xplearn.learning.drawn import Drawn

Reward = Literal["score", "success", "return"]
"""What a trajectory is worth: its final score in [0, 1], 1 for success and else 0, or the sum of its step rewards."""


def worth(trajectory: Trajectory, reward: Reward) -> float:
    """What a whole trajectory earned."""
    if reward == "return":
        return math.fsum(step.reward for step in trajectory.steps)
    return float(trajectory.success) if reward == "success" else trajectory.score


def trajectory_return(item: Drawn, reward: Reward, *, invalid_penalty: float = 0.0) -> float:
    """What a trajectory earned, less the penalty times the share of its steps that the environment did not understand.

    It is the mean of ``step_returns``.
    """
    invalid = sum(not step.valid for step in item.steps)
    return worth(item.trajectory, reward) - invalid_penalty * (invalid / max(len(item.steps), 1))


def step_returns(item: Drawn, reward: Reward, *, invalid_penalty: float = 0.0) -> list[float]:
    """For each step what the whole trajectory earned, less the penalty where the environment did not understand the action."""
    return penalised([worth(item.trajectory, reward)] * len(item.steps), item, invalid_penalty)


def discounted_returns(item: Drawn, reward: Reward, *, discount: float, invalid_penalty: float = 0.0) -> list[float]:
    """What each step led to, less the penalty where it was invalid; what comes a step later counts ``discount`` times as much.

    A score or a success comes with the last step, step rewards with theirs.
    """
    steps = item.steps
    if reward != "return":
        whole = worth(item.trajectory, reward)
        return penalised([whole * discount**left for left in reversed(range(len(steps)))], item, invalid_penalty)
    found, ahead = [], 0.0
    for step in reversed(steps):
        ahead = step.reward + discount * ahead
        found.append(ahead)
    return penalised(found[::-1], item, invalid_penalty)


def penalised(returns: Sequence[float], item: Drawn, penalty: float) -> list[float]:
    """One return for each step of a trajectory, less the penalty where the environment did not understand the action."""
    return [value if step.valid else value - penalty for value, step in zip(returns, item.steps, strict=True)]


def anchors(item: Drawn, within: Hashable) -> list[Hashable]:
    """What each step of a trajectory was taken from: the observation at hand, word for word, ``within`` a group."""
    return [(within, observation(step.query.messages)) for step in item.steps]


def observation(messages: Sequence[Message]) -> str:
    """The last turn that the policy did not say itself; empty where there is none."""
    return next((message["content"] for message in reversed(messages) if message["role"] == "user"), "")
