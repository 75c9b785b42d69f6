"""Learning from what the policy drew itself: what every policy gradient shares, whatever its objective."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import torch

from xplearn.capability import Capability
from xplearn.component import State
from xplearn.errors import ConfigError, ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.learner import Learner
from xplearn.interfaces.policy import LocalPolicy
from xplearn.learning import optim
from xplearn.learning.ascent import Ascent, Objective
from xplearn.learning.drawn import Drawn
from xplearn.types import Trajectory

SITES = {"sites.*": 1e-4, "sites.*.lambda*": 1e-3}
"""Rates of adapters at sites: attention, gates and query; and what decides how much of them is mixed in."""


@dataclass(kw_only=True)
class PolicyGradientLearner(Learner):
    """Steps along a policy gradient; a subclass says for which trajectories, with which credit and objective.

    A ``learn`` call is one round of a run of many: the optimiser goes on from round to round and is part of the learner's state.
    Completions are scored as they were drawn and without dropout, so that the first step's ratios are those of the policy that drew them:
    only the step itself happens inside ``policy.training()``.
    """

    lr: float = 5e-6
    """Peak learning rate [L]."""
    lr_groups: dict[str, float] = field(default_factory=SITES.copy)
    """Peak learning rate of parameters whose name matches a pattern (``*`` for anything); the last match wins [L]. One of your own that
    matches nothing is refused."""
    betas: list[float] = field(default_factory=lambda: [0.9, 0.99])
    """Decay of AdamW's two moments [L]. Its 8-bit paged form exists on CUDA only and is not used."""
    weight_decay: float = 0.1
    """Of matrices, per unit of learning rate [L]."""
    max_grad_norm: float = 0.1
    """Gradients are scaled down to this norm [L]."""
    epochs: int = 1
    """Passes over the trajectories of a round [OURS]."""
    batch: int | None = None
    """Trajectories per optimiser step, whole groups as far as they go; null for all of a round [OURS]."""
    micro_tokens: int = 1024
    """Positions of one forward pass: bounds memory and changes no result beyond rounding."""
    total_steps: int | None = None
    """Optimiser steps of the whole run, for a cosine that ends with it; null for a constant rate [OURS]."""
    warmup_share: float = 0.1
    """Share of ``total_steps`` in which the learning rate rises [L]."""
    checkpoint_seconds: float = 30.0
    """Progress is saved this often."""

    name: ClassVar[str] = "core.policy_gradient"
    """As registered; in errors and in the keys of random draws."""

    def __post_init__(self) -> None:
        positive: dict[str, float | None] = {name: getattr(self, name) for name in ("lr", "max_grad_norm", "epochs", "micro_tokens")}
        positive |= {"batch": self.batch, "total_steps": self.total_steps}
        positive |= {f"lr_groups.{glob}": rate for glob, rate in self.lr_groups.items()}
        for name, value in positive.items():
            if value is not None and not 0 < value < math.inf:
                raise ConfigError(name, f"must be above 0, not {value}")
        for name, least in {"weight_decay": self.weight_decay, "checkpoint_seconds": self.checkpoint_seconds}.items():
            if not 0 <= least < math.inf:
                raise ConfigError(name, f"must be 0 or more, not {least}")
        if not 0 <= self.warmup_share <= 1:
            raise ConfigError("warmup_share", f"must lie in [0, 1], not {self.warmup_share}")
        if len(self.betas) != 2 or not all(0 <= beta < 1 for beta in self.betas):
            raise ConfigError("betas", f"want two numbers in [0, 1), e.g. [0.9, 0.99], not {self.betas}")
        self._steps = 0
        self._moments: State = {}

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"learner.conditioned", "learner.drawn"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.score", "policy.train"})

    def forward_tokens(self, trajectory: int) -> int:
        return max(self.micro_tokens, trajectory)

    @abstractmethod
    def credited(self, batch: Sequence[Trajectory]) -> list[Drawn]:
        """The trajectories to learn from, those of a group side by side, each with its advantage."""

    @abstractmethod
    def known(self, items: Sequence[Drawn], policy: LocalPolicy, *, steps: int) -> list[Drawn]:
        """The same with the log-probabilities that must be known before the first of ``steps`` optimiser steps."""

    @abstractmethod
    def objective(self, items: Sequence[Drawn], policy: LocalPolicy, agent: AgentView) -> Objective:
        """What is minimised."""

    @abstractmethod
    def outcome(self, items: Sequence[Drawn]) -> dict[str, float]:
        """Figures about the trajectories themselves."""

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Learn from the batch, going on with the optimiser of earlier rounds.

        Returns:
            What ``outcome`` and the objective tell, and ``loss`` and ``grad_norm`` (mean over steps), ``steps`` (taken: one whose gradient
            is exactly zero is not), ``trajectories``, ``tokens`` (positions read), ``seconds`` and ``tokens_per_second``; with nothing to
            learn from only ``steps`` and ``trajectories``, both 0.

        Raises:
            ContractError: the loss is not finite (the weights are then what they were before), the policy has no trainable parameters,
                a trajectory lacks tokens or log-probabilities, or a pattern of ``lr_groups`` matches nothing.
        """
        items = self.credited(batch)
        if not items:
            return {"steps": 0.0, "trajectories": 0.0}
        policy = cast(LocalPolicy, agent.policy)
        parameters = self._trainable(policy)
        total = self.epochs * math.ceil(len(items) / (self.batch or len(items)))
        with optim.all_or_nothing(parameters):
            ascent = Ascent(
                settings=self,
                agent=agent,
                policy=policy,
                parameters=parameters,
                items=self.known(items, policy, steps=total),
                objective=self.objective(items, policy, agent),
                optimizer=self._optimizer(parameters),
                rates=[self._rate(self._steps + step) for step in range(total)],
            )
            figures = ascent.run()
        self._steps, self._moments = self._steps + total, optim.moments(parameters, ascent.optimizer)
        return {**self.outcome(items), **figures}

    def state_dict(self) -> State:
        """How many steps there were, and the optimiser's moments by parameter."""
        return {"steps": self._steps, **self._moments} if self._steps else {}

    def load_state_dict(self, state: State) -> None:
        self._steps = int(state.get("steps", 0))
        self._moments = {name: value for name, value in state.items() if name != "steps"}

    def _trainable(self, policy: LocalPolicy) -> dict[str, torch.nn.Parameter]:
        parameters = dict(policy.parameters())
        if not parameters:
            raise ContractError(self.name, "the policy has nothing to train; give it an adapter, e.g. policy.lora.rank=16")
        optim.require_matches(parameters, [glob for glob in self.lr_groups if glob not in SITES], learner=self.name)
        return parameters

    def _optimizer(self, parameters: optim.Parameters) -> torch.optim.Optimizer:
        found = optim.adamw(
            parameters, lr=self.lr, weight_decay=self.weight_decay, betas=(self.betas[0], self.betas[1]), groups=self.lr_groups
        )
        optim.set_moments(self._moments, parameters, found)
        found.zero_grad(set_to_none=True)
        return found

    def _rate(self, step: int) -> float:
        """Factor on the peak learning rate at a step of the run."""
        if self.total_steps is None:
            return 1.0
        warmup = math.ceil(self.warmup_share * self.total_steps)
        return optim.rate("cosine", min(step, self.total_steps - 1), self.total_steps, warmup=warmup)
