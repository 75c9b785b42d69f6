"""GRPO (Shao et al., 2024): what did better than its group becomes likelier, within a trust region."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Literal

import torch

from xplearn.capability import Capability
from xplearn.errors import ConfigError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.learner import RolloutPlan
from xplearn.interfaces.policy import LocalPolicy
from xplearn.learning.advantage import Scale, groups_without_variance, mean, std, step_advantages
from xplearn.learning.credit import Reward, anchors, discounted_returns, step_returns, trajectory_return, worth
from xplearn.learning.drawn import Drawn, drawn, recorded, scored
from xplearn.learning.losses import Averaging
from xplearn.learning.policy_gradient import PolicyGradientLearner
from xplearn.learning.surrogate import Surrogate
from xplearn.types import Arm, Trajectory


@dataclass(kw_only=True)
class GrpoLearner(PolicyGradientLearner):
    """Group-relative policy optimisation on whole trajectories, one turn or many, with experience in the input or without.

    A trajectory's reward, less the mean of its group, is the advantage of every token it drew, invalid steps included; ``unit`` and
    ``anchor_weight`` give its steps advantages of their own. Loss and gradient are those of TRL's ``GRPOTrainer``: ``sequence``,
    ``token`` and ``constant`` are its ``grpo``, ``bnpo`` (``dapo`` with one step a round) and ``dr_grpo``.

    A subclass narrows what is learned from (``admitted``), says what it is worth (``returns``), or adds a term to the ``objective``.
    """

    arms: Literal["experience", "plain", "both"] = "experience"
    """Played with experience, without, or half of each group so; with ``both`` the halves are one group."""
    group_size: int = 8
    """Trajectories per task [L]."""
    reward: Reward = "score"
    """What a trajectory is worth: its final ``score``, 1 for ``success`` and else 0, or the sum of its step rewards (``return``) [OURS]."""
    invalid_penalty: float = 0.0
    """Taken off the return of each step whose action the environment did not understand; 0.1 in EDGE [C]."""
    unit: Literal["trajectory", "step"] = "trajectory"
    """What is one member of a group. ``trajectory``: all of one, by the mean return of its steps, which share its advantage. ``step``: each
    step, with an advantage of its own, so that long trajectories weigh more in mean and deviation, as in verl-agent [C]."""
    anchor_weight: float = 0.0
    """Weight of a second advantage, over the steps of a group that were taken from the very same observation; 0 for none, 1 in GiGPO (Feng
    et al., 2025) [L]."""
    discount: float = 0.95
    """Factor on a reward for each step between it and the step whose return within its anchor is taken [L]."""
    drop_flat: bool = False
    """Groups that have nothing to tell leave the averages as well, and the divergence; DAPO's filter, without drawing others in their
    place [OURS]."""
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
    dual_clip: float | None = None
    """Nor, where the advantage is negative, above this, which is more than 1; 3 in EDGE [C], null for no such bound."""
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
        if self.group_size < least:
            raise ConfigError("group_size", f"must be at least {least}, not {self.group_size}: a trajectory alone has no advantage")
        if self.arms == "both" and self.group_size % 2:
            raise ConfigError("group_size", f"must be even, not {self.group_size}: half of a group is played with experience, half without")
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        for name, value in {"epsilon": self.epsilon, "epsilon_high": high}.items():
            if not 0 < value < math.inf:
                raise ConfigError(name, f"must be above 0, not {value}")
        for name in ("beta", "invalid_penalty", "anchor_weight"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(name, f"must be 0 or more, not {getattr(self, name)}")
        if not 0 <= self.discount <= 1:
            raise ConfigError("discount", f"must lie in [0, 1], not {self.discount}")
        if self.dual_clip is not None and not 1 < self.dual_clip < math.inf:
            raise ConfigError("dual_clip", f"must be above 1, not {self.dual_clip}; null for no such bound")

    @property
    def provides(self) -> frozenset[Capability]:
        return super().provides if "experience" in self._arms() else super().provides - {"learner.conditioned"}

    @property
    def requires(self) -> frozenset[Capability]:
        return super().requires | ({"policy.reference"} if self.beta else set())

    @property
    def ways_out(self) -> Mapping[Capability, str]:
        return {"policy.reference": "learner: {name: core.grpo, beta: 0}"}

    def plan(self) -> RolloutPlan:
        arms = self._arms()
        return RolloutPlan(arms=arms, replicas=self.group_size // len(arms), needs_logprobs=True, source="rollout", grouped=True)

    def admitted(self, usable: Sequence[Trajectory]) -> list[Trajectory]:
        """Which trajectories to learn from, of those played to their end in the arms asked for: all, unless a subclass says otherwise.

        The others are left out of the groups, the averages and the figures.
        """
        return list(usable)

    def returns(self, items: Sequence[Drawn]) -> list[list[float]]:
        """What each trajectory brings to its group, penalties taken off: one number, or one for each of its steps with ``unit=step``."""
        if self.unit == "step":
            return [step_returns(item, self.reward, invalid_penalty=self.invalid_penalty) for item in items]
        return [[trajectory_return(item, self.reward, invalid_penalty=self.invalid_penalty)] for item in items]

    def credited(self, batch: Sequence[Trajectory]) -> list[Drawn]:
        usable = self.admitted([item for item in batch if item.error is None and item.arm in self._arms() and item.steps])
        places = {group: place for place, group in enumerate(dict.fromkeys(item.group for item in usable))}
        items = [drawn(item, learner=self.name) for item in sorted(usable, key=lambda item: (places[item.group], item.arm))]
        items = [item for item in items if item.tokens]
        items = [replace(item, advantages=values) for item, values in zip(items, self._advantages(items), strict=True)]
        return self._filtered(items) if self.drop_flat else items

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

    def objective(self, items: Sequence[Drawn], policy: LocalPolicy, agent: AgentView) -> Surrogate:
        high = self.epsilon if self.epsilon_high is None else self.epsilon_high
        return Surrogate(
            low=self.epsilon, high=high, beta=self.beta, corrected=self.kl_corrected, averaging=self.reduction, dual_clip=self.dual_clip
        )

    def outcome(self, items: Sequence[Drawn]) -> dict[str, float]:
        """Figures of the round.

        ``reward_mean`` and ``reward_std`` (before penalties), ``success`` (share of trajectories), ``length_mean`` (steps),
        ``invalid_share`` (of steps), ``groups_without_variance``, ``groups_dropped`` and ``advantage_mean``.
        """
        rewards = [worth(item.trajectory, self.reward) for item in items]
        returns, groups = self._members(items)
        return {
            "reward_mean": mean(rewards),
            "reward_std": std(rewards),
            "success": mean([float(item.trajectory.success) for item in items]),
            "length_mean": mean([float(len(item.steps)) for item in items]),
            "invalid_share": mean([float(not step.valid) for item in items for step in item.steps]),
            "groups_without_variance": float(groups_without_variance([*chain.from_iterable(returns)], [*chain.from_iterable(groups)])),
            "groups_dropped": float(len({*self._peers([item for item in items if not item.counts])})),
            "advantage_mean": mean([mean(item.advantages) for item in items]),
        }

    def _advantages(self, items: Sequence[Drawn]) -> list[tuple[float, ...]]:
        """One for each step of each trajectory."""
        found = step_advantages(*self._members(items), scale=self.scale)
        if self.unit == "trajectory":
            found = [values * len(item.completions) for item, values in zip(items, found, strict=True)]
        if not self.anchor_weight:
            return found
        return [
            tuple(whole + self.anchor_weight * local for whole, local in zip(*pair, strict=True))
            for pair in zip(found, self._local_advantages(items), strict=True)
        ]

    def _local_advantages(self, items: Sequence[Drawn]) -> list[tuple[float, ...]]:
        """How much better each step went on than others of its group that were taken from the same observation."""
        ahead = [discounted_returns(item, self.reward, discount=self.discount, invalid_penalty=self.invalid_penalty) for item in items]
        places = [anchors(item, within=peer) for item, peer in zip(items, self._peers(items), strict=True)]
        return step_advantages(ahead, places, scale=self.scale)

    def _members(self, items: Sequence[Drawn]) -> tuple[list[list[float]], list[list[Hashable]]]:
        """What each member of a group returned, and the group it is a member of, by trajectory."""
        returns = self.returns(items)
        return returns, [[peer] * len(row) for peer, row in zip(self._peers(items), returns, strict=True)]

    def _filtered(self, items: Sequence[Drawn]) -> list[Drawn]:
        """The same, where those of a group without any advantage do not count."""
        peers = self._peers(items)
        telling = {peer for peer, item in zip(peers, items, strict=True) if any(item.advantages)}
        return [replace(item, counts=peer in telling) for item, peer in zip(items, peers, strict=True)]

    def _arms(self) -> tuple[Arm, ...]:
        return ("experience", "plain") if self.arms == "both" else (self.arms,)

    def _peers(self, items: Sequence[Drawn]) -> list[Hashable]:
        """What each trajectory is compared within."""
        return [(item.trajectory.group, item.trajectory.arm if self.over == "arm" else "") for item in items]
