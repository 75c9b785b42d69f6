"""Behaviour cloning: say what the expert said, seeing what the agent would have seen."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import torch

from xplearn.capability import Capability
from xplearn.errors import ConfigError, ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.learner import Learner, RolloutPlan
from xplearn.interfaces.policy import LocalPolicy
from xplearn.learning import optim
from xplearn.learning.batching import Sample, micro_batches, order, sample, undressed, whole
from xplearn.learning.losses import masked_sum, share
from xplearn.seeding import derive
from xplearn.types import Arm, Trajectory

NAME = "core.clone"
_LARGEST = 2**63


@dataclass(kw_only=True)
class CloneLearner(Learner):
    """Maximises the log-probability of the demonstrated action tokens, with the experience that acting would have had in the input.

    The optimiser starts afresh in every call; the adapter is the policy's one and goes on from stage to stage.
    """

    arms: Literal["experience", "plain", "both"] = "experience"
    """Cloned with the experience in the input, without, or each demonstration both ways."""
    targets: Literal["actions", "all"] = "actions"
    """What is learned to say: the expert's actions, or every token of the conversation, what the environment says included. A small model
    from scratch learns to copy names that way, long before a few action tokens teach it [OURS]."""
    epochs: int = 3
    """Passes over the trajectories of a round."""
    max_steps: int | None = None
    """At most this many optimiser steps a round."""
    batch: int = 4
    """Trajectories per optimiser step."""
    lr: float = 5e-4
    """Peak learning rate."""
    lr_groups: dict[str, float] = field(default_factory=dict)
    """Peak learning rate of parameters whose name matches a pattern (``*`` for anything), e.g. ``{"sites.*": 1e-3}`` for adapters at sites;
    the last match wins, and one that matches nothing is refused."""
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    """How the learning rate falls after the warm-up."""
    warmup_share: float = 0.03
    """Share of the steps in which the learning rate rises."""
    weight_decay: float = 0.0
    """Of matrices, per unit of learning rate."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm."""
    reduction: Literal["token", "trajectory"] = "token"
    """``token``: mean over action tokens. ``trajectory``: sum over a trajectory's, mean over trajectories (the HaMo formula)."""
    micro_tokens: int = 2048
    """Positions of one forward pass, padding included: bounds memory and changes no result beyond rounding."""
    min_score: float = 0.0
    """Only trajectories with at least this score, in [0, 1], are cloned."""
    empty_share: float = 0.0
    """Share of the experience trajectories that are shown without it, so that the policy also learns to act without a hit."""
    checkpoint_seconds: float = 30.0
    """Progress is saved this often."""

    def __post_init__(self) -> None:
        positive = {"epochs": self.epochs, "batch": self.batch, "lr": self.lr, "max_grad_norm": self.max_grad_norm}
        positive |= {"micro_tokens": self.micro_tokens, "max_steps": 1 if self.max_steps is None else self.max_steps}
        positive |= {f"lr_groups.{glob}": rate for glob, rate in self.lr_groups.items()}
        for name, value in positive.items():
            if not 0 < value < math.inf:
                raise ConfigError(name, f"must be above 0, not {value}")
        for name, value in {"warmup_share": self.warmup_share, "min_score": self.min_score, "empty_share": self.empty_share}.items():
            if not 0 <= value <= 1:
                raise ConfigError(name, f"must lie in [0, 1], not {value}")
        for name, value in {"weight_decay": self.weight_decay, "checkpoint_seconds": self.checkpoint_seconds}.items():
            if not 0 <= value < math.inf:
                raise ConfigError(name, f"must be 0 or more, not {value}")

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"learner.conditioned"}) if "experience" in self._arms() else frozenset()

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.score", "policy.train"})

    def plan(self) -> RolloutPlan:
        return RolloutPlan(arms=self._arms(), source="demonstration")

    def forward_tokens(self, trajectory: int) -> int:
        return max(self.micro_tokens, trajectory)

    def learn(self, batch: Sequence[Trajectory], agent: AgentView) -> Mapping[str, float]:
        """Clone the trajectories of its arms that carry no error and reach ``min_score``.

        Returns:
            ``loss_first`` and ``loss_last`` (nats a token, or a trajectory), ``steps``, ``trajectories``, ``tokens`` (positions read),
            ``seconds`` and ``tokens_per_second``; with nothing to clone only ``steps`` and ``trajectories``, both 0.

        Raises:
            ContractError: the loss is not finite (the weights are then what they were before), the policy has no trainable
                parameters, a trajectory carries no tokens, or a pattern of ``lr_groups`` matches nothing.
        """
        samples = self._samples(batch, agent)
        if not samples:
            return {"steps": 0.0, "trajectories": 0.0}
        policy = cast(LocalPolicy, agent.policy)
        parameters = dict(policy.parameters())
        if not parameters:
            raise ContractError(NAME, "the policy has nothing to train; give it an adapter, e.g. policy.lora.rank=16")
        optim.require_matches(parameters, self.lr_groups, learner=NAME)
        with optim.all_or_nothing(parameters), policy.training():
            return _Training(self, agent, policy, parameters, samples).run()

    def _arms(self) -> tuple[Arm, ...]:
        return ("experience", "plain") if self.arms == "both" else (self.arms,)

    def _samples(self, batch: Sequence[Trajectory], agent: AgentView) -> list[Sample]:
        arms = self._arms()
        usable = [item for item in batch if item.error is None and item.arm in arms and item.score >= self.min_score and item.steps]
        found = [sample(self._shown(item, agent), learner=NAME) for item in usable]
        if self.targets == "all":
            found = [whole(item) for item in found]
        return [item for item in found if item.targets]

    def _shown(self, trajectory: Trajectory, agent: AgentView) -> Trajectory:
        draw = derive(agent.seed, NAME, "empty", *agent.position, trajectory.id) / _LARGEST
        hidden = trajectory.arm == "experience" and draw < self.empty_share
        return undressed(trajectory, cast(LocalPolicy, agent.policy)) if hidden else trajectory


@dataclass
class _Training:
    """One call of ``learn``: batches by step, progress saved, resumed to the very same weights."""

    settings: CloneLearner
    agent: AgentView
    policy: LocalPolicy
    parameters: dict[str, torch.nn.Parameter]
    samples: list[Sample]
    done: int = 0
    figures: dict[str, float] = field(default_factory=lambda: {"loss_first": 0.0, "loss_last": 0.0, "tokens": 0.0, "seconds": 0.0})

    def __post_init__(self) -> None:
        settings = self.settings
        self.epoch_steps = math.ceil(len(self.samples) / settings.batch)
        self.total = settings.epochs * self.epoch_steps
        if settings.max_steps is not None:
            self.total = min(self.total, settings.max_steps)
        self.warmup = math.ceil(settings.warmup_share * self.total)
        self.optimizer = optim.adamw(self.parameters, lr=settings.lr, weight_decay=settings.weight_decay, groups=settings.lr_groups)
        self._resume()

    def run(self) -> dict[str, float]:
        saved = time.monotonic()
        while self.done < self.total:
            self._step()
            if time.monotonic() - saved >= self.settings.checkpoint_seconds and self.done < self.total:
                self.agent.checkpoint.save(self._state())
                saved = time.monotonic()
        rate = self.figures["tokens"] / max(self.figures["seconds"], 1e-9)
        return {**self.figures, "tokens_per_second": rate, "steps": float(self.done), "trajectories": float(len(self.samples))}

    def _step(self) -> None:
        started = time.monotonic()
        epoch, index = divmod(self.done, self.epoch_steps)
        batch = order(self.samples, self.settings.batch, self.agent.seed, NAME, "order", *self.agent.position, epoch)[index]
        optim.scale_rates(self.optimizer, optim.rate(self.settings.schedule, self.done, self.total, warmup=self.warmup))
        loss = self._gradients(batch)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.settings.max_grad_norm)
        if not (math.isfinite(loss) and bool(torch.isfinite(norm))):
            raise ContractError(
                NAME,
                f"the loss is {loss} (gradient norm {float(norm)}) at step {self.done + 1} of {self.total}; "
                f"the weights are as before; lower the learning rate, e.g. lr={self.settings.lr / 5:.0e}",
            )
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._count(batch, loss, time.monotonic() - started)

    def _gradients(self, batch: Sequence[Sample]) -> float:
        weight = share(self.settings.reduction, tokens=sum(item.targets for item in batch), trajectories=len(batch))
        seed = derive(self.agent.seed, NAME, "dropout", *self.agent.position, self.done)
        total = 0.0
        with optim.keyed_dropout(seed, next(iter(self.parameters.values())).device):
            for group in micro_batches(batch, self.settings.micro_tokens):
                scores = self.policy.score(
                    [row for item in group for row in item.conditionings], [row for item in group for row in item.completions]
                )
                loss = -weight * masked_sum(scores.logprobs, scores.mask)
                loss.backward()  # type: ignore[no-untyped-call]
                total += float(loss.detach())
        return total

    def _count(self, batch: Sequence[Sample], loss: float, seconds: float) -> None:
        figures = self.figures
        figures["loss_first"] = loss if self.done == 0 else figures["loss_first"]
        figures["loss_last"] = loss
        figures["tokens"] += sum(item.positions for item in batch)
        figures["seconds"] += seconds
        self.done += 1
        self.agent.checkpoint.report(self.done, self.total, loss=loss, tokens_per_second=figures["tokens"] / max(figures["seconds"], 1e-9))

    def _state(self) -> dict[str, Any]:
        return {"done": self.done, "figures": dict(self.figures), **optim.pack(self.parameters, self.optimizer)}

    def _resume(self) -> None:
        state = self.agent.checkpoint.load()
        if state is None:
            return
        self.done, self.figures = int(state["done"]), dict(state["figures"])
        optim.unpack(state, self.parameters, self.optimizer)
