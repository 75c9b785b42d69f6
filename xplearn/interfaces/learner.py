"""Changing the agent."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xplearn.component import Component
from xplearn.interfaces.agent import AgentView
from xplearn.types import Arm, Source, Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """The trajectories a learner wants. Plans of several learners are merged: union of arms, largest replica count, any need."""

    arms: tuple[Arm, ...] = ("experience",)
    """Arms each task is played in; they share task, environment seed and sampling noise."""
    replicas: int = 1
    """Trajectories per task and arm."""
    needs_logprobs: bool = False
    """Whether completions must carry log-probabilities."""
    source: Source = "rollout"
    """Own rollouts, or the environment's demonstrations. Learners of one run must agree, or leave it to ``indifferent``."""
    indifferent: bool = False
    """Takes whatever source the other learners ask for."""


class Learner(Component):
    """Improves the agent from trajectories; the only interface allowed to change anything.

    Never collects by itself. Ignores trajectories whose ``error`` is set.
    """

    def plan(self) -> RolloutPlan:
        """Which trajectories it wants."""
        return RolloutPlan(indifferent=True)

    @abstractmethod
    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Learn once from ``batch``; return the figures worth recording (finite floats by name).

        Calling it with the same batch, agent state and seed gives the same result. Work of more than a minute saves its
        progress through ``agent.checkpoint`` and goes on from there after a kill, with the same final result.
        """
