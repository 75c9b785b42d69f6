"""``baselines.untrained``: the place of a learner, held by one that learns nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xplearn import AgentView, Learner, RolloutPlan, Trajectory


@dataclass(kw_only=True)
class Untrained(Learner):
    """Asks for the environment's demonstrations and leaves the weights alone: Base+Harness.

    What stands under ``record`` then writes the same bank as beside a learner that clones.
    """

    def plan(self) -> RolloutPlan:
        return RolloutPlan(source="demonstration")

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        return {}
