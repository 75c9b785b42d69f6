"""Changing the agent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xplearn.component import Component
from xplearn.errors import ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.types import Arm, Source, Trajectory

Wanted = Source | Literal["both"]
"""Own rollouts, the environment's demonstrations, or both of the same episodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """The trajectories a learner wants.

    Plans of several learners are merged: union of arms, largest replica count, any need, the earliest rollouts and end of the scaffold.
    """

    arms: tuple[Arm, ...] = ("experience",)
    """Arms each task is played in; they share task, environment seed and sampling noise."""
    replicas: int = 1
    """Trajectories per task and arm."""
    needs_logprobs: bool = False
    """Whether completions must carry log-probabilities."""
    source: Wanted = "rollout"
    """Own rollouts, the environment's demonstrations, or both. Learners of one run must agree, or leave it to ``indifferent``."""
    rollouts_from: int = 0
    """With ``both``: the 0-based round of a stage in which rollouts join its demonstrations; they meet the environments the expert met."""
    grouped: bool = False
    """Trajectories are compared within their groups, just drawn: the curriculum keeps or drops a group whole, and none is replayed."""
    plain_from: int | None = None
    """The 0-based round of the whole stream, warm-up aside, from which as many trajectories are all played without experience: a scaffold
    is taken away. None: never."""
    indifferent: bool = False
    """Takes whatever source the other learners ask for."""

    def __post_init__(self) -> None:
        if self.rollouts_from < 0 or (self.rollouts_from and self.source != "both"):
            raise ContractError(
                "RolloutPlan", f"rollouts_from={self.rollouts_from} with source '{self.source}'; it goes with 'both', from 0 on"
            )
        if self.plain_from is not None and self.plain_from < 0:
            raise ContractError("RolloutPlan", f"plain_from={self.plain_from}; want a round from 0 on, or None")

    def at(self, round: int) -> RolloutPlan:
        """The plan as it is in a round of the whole stream (0-based)."""
        if self.plain_from is None or round < self.plain_from:
            return self
        return replace(self, arms=("plain",), replicas=self.replicas * len(self.arms))

    @property
    def shows(self) -> bool:
        """Whether demonstrations are part of it."""
        return self.source != "rollout"

    def plays(self, round: int) -> bool:
        """Whether a round of a stage (0-based) has rollouts."""
        return self.source != "demonstration" and round >= self.rollouts_from


class Learner(Component):
    """Improves the agent from trajectories; the only interface allowed to change anything.

    Never collects by itself. Ignores trajectories whose ``error`` is set.
    """

    def plan(self) -> RolloutPlan:
        """Which trajectories it wants."""
        return RolloutPlan(indifferent=True)

    def forward_tokens(self, trajectory: int) -> int:
        """Most positions that one forward pass of its training holds, padding included; memory is estimated with it.

        Args:
            trajectory: tokens of the longest trajectory it is given; a learner that reads several at once answers with more.
        """
        return trajectory

    @abstractmethod
    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Learn once from ``batch``; return the figures worth recording (finite floats by name).

        Calling it with the same batch, agent state and seed gives the same result. Work of more than a minute saves its
        progress through ``agent.checkpoint`` and goes on from there after a kill, with the same final result.
        """
