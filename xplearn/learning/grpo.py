"""GRPO (Shao et al., 2024): what did better than its group becomes likelier, within a trust region."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import torch

from xplearn.capability import Capability
from xplearn.errors import ConfigError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.learner import RolloutPlan
from xplearn.interfaces.policy import LocalPolicy
from xplearn.learning.advantage import Scale, advantages, groups_without_variance, mean, std
from xplearn.learning.drawn import Drawn, drawn, recorded, scored
from xplearn.learning.losses import Averaging
from xplearn.learning.policy_gradient import PolicyGradientLearner
from xplearn.learning.surrogate import Surrogate
from xplearn.types import Arm, Trajectory


@dataclass(kw_only=True)
class GrpoLearner(PolicyGradientLearner):
    """Group-relative policy optimisation on whole trajectories, one turn or many, with experience in the input or without.

    A trajectory's score, less the mean of its group, is the advantage of every token it drew, invalid steps included. Loss and gradient
    are those of TRL's ``GRPOTrainer``: ``sequence``, ``token`` and ``constant`` are its ``grpo``, ``bnpo`` (``dapo`` with one step a
    round) and ``dr_grpo``.
    """

    arms: Literal["experience", "plain", "both"] = "experience"
    """Played with experience, without, or half of each group so; with ``both`` the halves are one group."""
    group_size: int = 8
    """Trajectories per task [L]."""
    scale: Scale = "group"
    """Standard deviation that advantages are divided by: the group's, the round's, or none [OURS]."""
    over: Literal["group", "arm"] = "group"
    """What an advantage is relative to: the whole group, or its own arm's half of it [OURS]."""
    reduction: Averaging = "token"
    """``token``: mean over the tokens of a step. ``sequence``: mean over each trajectory's, then over trajectories. ``constant``: sum over
    each trajectory's divided by ``sampling.max_new_tokens``, mean over trajectories [OURS]."""
    epsilon: float = 0.2
    """The ratio to the policy that drew a token has no pull below 1 minus this [OURS]."""
    epsilon_high: float | None = None
    """Nor above 1 plus this; null for the same [OURS]."""
    beta: float = 0.005
    """Weight of the KL divergence from the policy before any training; 0 needs no reference and reads nothing that has no advantage [L]."""
    kl_corrected: bool = True
    """Weight each token's divergence by its ratio, which makes the gradient that of the reverse KL; TRL does, HRPO's did not [OURS]."""
    old: Literal["rollout", "rescored"] = "rollout"
    """Log-probabilities of the policy that drew: as recorded, or scored again before the first step, which leaves out what rounding
    differs between drawing and scoring (bf16) [OURS]."""

    name: ClassVar[str] = "core.grpo"

    def __post_init__(self) -> None:
        super().__post_init__()
        least = 4 if self.arms == "both" and self.over == "arm" else 2
        if self.group_size < least or (self.arms == "both" and self.group_size % 2):
            halves = ", and even with arms=both" if self.arms == "both" else ""
            raise ConfigError("group_size", f"must be at least {least}{halves}, not {self.group_size}: a trajectory alone has no advantage")
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        for name, value in {"epsilon": self.epsilon, "epsilon_high": high}.items():
            if not 0 < value < math.inf:
                raise ConfigError(name, f"must be above 0, not {value}")
        if not 0 <= self.beta < math.inf:
            raise ConfigError("beta", f"must be 0 or more, not {self.beta}")

    @property
    def requires(self) -> frozenset[Capability]:
        return super().requires | ({"policy.reference"} if self.beta else set())

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        return {"policy.reference": "learner: {name: core.grpo, beta: 0}"}

    def plan(self) -> RolloutPlan:
        arms = self._arms()
        return RolloutPlan(arms=arms, replicas=self.group_size // len(arms), needs_logprobs=True, source="rollout", grouped=True)

    def credited(self, batch: Sequence[Trajectory]) -> list[Drawn]:
        usable = [item for item in batch if item.error is None and item.arm in self._arms() and item.steps]
        places = {group: place for place, group in enumerate(dict.fromkeys(item.group for item in usable))}
        items = [drawn(item, learner=self.name) for item in sorted(usable, key=lambda item: (places[item.group], item.arm))]
        items = [item for item in items if item.tokens]
        credit = advantages(_returns(items), self._peers(items), scale=self.scale)
        return [replace(item, advantages=(value,) * len(item.completions)) for item, value in zip(items, credit, strict=True)]

    def known(self, items: Sequence[Drawn], policy: LocalPolicy, *, steps: int) -> list[Drawn]:
        """With the policy that drew, unless it still is the one that learns, and the reference, as far as the objective needs them."""
        old: list[torch.Tensor | None] = [None] * len(items)
        reference: list[torch.Tensor | None] = [None] * len(items)
        if self.old == "rollout":
            old = [recorded(item, learner=self.name) for item in items]
        elif steps > 1:
            old = [*scored(policy, items, micro_tokens=self.micro_tokens)]
        if self.beta:
            with policy.reference():
                reference = [*scored(policy, items, micro_tokens=self.micro_tokens)]
        return [replace(item, old=o, reference=r) for item, o, r in zip(items, old, reference, strict=True)]

    def objective(self, policy: LocalPolicy, agent: AgentView) -> Surrogate:
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        return Surrogate(low=self.epsilon, high=high, beta=self.beta, corrected=self.kl_corrected, averaging=self.reduction)

    def outcome(self, items: Sequence[Drawn]) -> dict[str, float]:
        """``reward_mean`` and ``reward_std`` (of scores), ``groups_without_variance`` and ``advantage_mean``."""
        returns = _returns(items)
        return {
            "reward_mean": mean(returns),
            "reward_std": std(returns),
            "groups_without_variance": float(groups_without_variance(returns, self._peers(items))),
            "advantage_mean": mean([mean(item.advantages) for item in items]),
        }

    def _arms(self) -> tuple[Arm, ...]:
        return ("experience", "plain") if self.arms == "both" else (self.arms,)

    def _peers(self, items: Sequence[Drawn]) -> list[Hashable]:
        """What each trajectory is compared within."""
        return [(item.trajectory.group, item.trajectory.arm if self.over == "arm" else "") for item in items]


def _returns(items: Sequence[Drawn]) -> list[float]:
    return [item.trajectory.score for item in items]
