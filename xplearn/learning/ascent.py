"""The loop of a policy gradient: forward passes summed to steps, progress saved between passes, resumed to the very same weights."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from xplearn.errors import ContractError
from xplearn.interfaces.agent import AgentView
from xplearn.interfaces.policy import LocalPolicy
from xplearn.learning import optim
from xplearn.learning.drawn import Drawn, Scored, passes, positions, read
from xplearn.seeding import shuffled


class Settings(Protocol):
    """What the loop asks of the learner whose it is; see there."""

    @property
    def name(self) -> str: ...
    @property
    def lr(self) -> float: ...
    @property
    def batch(self) -> int | None: ...
    @property
    def micro_tokens(self) -> int: ...
    @property
    def max_grad_norm(self) -> float: ...
    @property
    def checkpoint_seconds(self) -> float: ...


class Objective(Protocol):
    """What is minimised: a sum over the tokens of a step's trajectories, whatever forward passes they are read in."""

    def needs(self, item: Drawn) -> bool:
        """Whether a trajectory has to be read at all."""

    def begin(self, batch: Sequence[Drawn]) -> None:
        """A step begins, with all its trajectories: the place for denominators, and for what depends on the weights before it."""

    def support(self, items: Sequence[Drawn]) -> list[torch.Tensor] | None:
        """Ids whose probability is wanted at each token beside the drawn one, ``[n, K]`` per trajectory; None where none is.

        Asked before each forward pass for the trajectories it reads: what a teacher says of them need not be kept for a whole step.
        """

    def loss(self, items: Sequence[Drawn], scores: Scored) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
        """The part of some trajectories of the step.

        Args:
            items: trajectories, one after the other.
            scores: of all their N tokens, with gradients.

        Returns:
            A scalar, and sums over the tokens of what is to be reported as a mean over tokens, by name.
        """


@dataclass(kw_only=True)
class Ascent:
    """One call of ``learn``."""

    settings: Settings
    agent: AgentView
    policy: LocalPolicy
    parameters: dict[str, torch.nn.Parameter]
    items: Sequence[Drawn]
    """Those of a group side by side."""
    objective: Objective
    optimizer: torch.optim.Optimizer
    """Made by ``optim.adamw``."""
    rates: Sequence[float]
    """Factor on the peak learning rate at each step."""
    done: int = 0
    """Steps behind."""
    part: int = 0
    """Forward passes of the step under way that are behind."""
    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    means: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Sums over the tokens scored of what the objective reports."""

    def run(self) -> dict[str, float]:
        """Take what steps are left and return the figures."""
        self._resume()
        self._saved = time.monotonic()
        self.agent.checkpoint.report(self.done, len(self.rates))
        while self.done < len(self.rates):
            self._step()
            self._save_if_due()
        steps, scored = max(self.done, 1), max(self.sums["scored"], 1)
        return {
            "loss": self.sums["loss"] / steps,
            "grad_norm": self.sums["grad_norm"] / steps,
            **{name: value / scored for name, value in self.means.items()},
            "steps": float(self.sums["taken"]),
            "trajectories": float(len(self.items)),
            "tokens": float(self.sums["tokens"]),
            "seconds": self.sums["seconds"],
            "tokens_per_second": self._speed,
        }

    def _step(self) -> None:
        batch = self._batch()
        self.objective.begin(batch)
        groups = passes(filter(self.objective.needs, batch), self.settings.micro_tokens)
        while self.part < len(groups):
            self._read(groups[self.part])
            self.part += 1
            self._save_if_due()
        norm = float(torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.settings.max_grad_norm))
        loss, self.sums["step"] = self.sums["step"], 0.0
        self._require_finite(loss, norm)
        if norm > 0:
            self._move()
        self.optimizer.zero_grad(set_to_none=True)
        _add(self.sums, loss=loss, grad_norm=norm)
        self.done, self.part = self.done + 1, 0
        self.agent.checkpoint.report(self.done, len(self.rates), loss=loss, tokens_per_second=self._speed)

    def _batch(self) -> list[Drawn]:
        """The trajectories of the step under way: whole groups in an order fixed by seed, place in the stream and pass."""
        size = self.settings.batch or len(self.items)
        epoch, index = divmod(self.done, math.ceil(len(self.items) / size))
        groups: dict[str, list[Drawn]] = {}
        for item in self.items:
            groups.setdefault(item.trajectory.group, []).append(item)
        mixed = shuffled(list(groups.values()), self.agent.seed, self.settings.name, "order", *self.agent.position, epoch)
        return [item for group in mixed for item in group][index * size : (index + 1) * size]

    def _read(self, items: Sequence[Drawn]) -> None:
        """One forward pass and its gradient."""
        began = time.monotonic()
        scores = read(self.policy, items, self.objective.support(items))
        loss, means = self.objective.loss(items, scores)
        loss.backward()  # type: ignore[no-untyped-call]
        _add(self.means, **{name: float(value) for name, value in means.items()})
        seconds = time.monotonic() - began
        _add(self.sums, step=float(loss.detach()), scored=len(scores.logprobs), tokens=positions(items), seconds=seconds)

    def _move(self) -> None:
        optim.scale_rates(self.optimizer, self.rates[self.done])
        with self.policy.training():
            self.optimizer.step()
        self.sums["taken"] += 1

    def _require_finite(self, loss: float, norm: float) -> None:
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise ContractError(
                self.settings.name,
                f"the loss is {loss} (gradient norm {norm}) at step {self.done + 1} of {len(self.rates)}; the weights are as before; "
                f"lower the learning rate, e.g. lr={self.settings.lr / 5:.0e}",
            )

    @property
    def _speed(self) -> float:
        return self.sums["tokens"] / max(self.sums["seconds"], 1e-9)

    def _save_if_due(self) -> None:
        if time.monotonic() - self._saved < self.settings.checkpoint_seconds or self.done == len(self.rates):
            return
        gradients = {f"gradient/{name}": value.grad.clone() for name, value in self.parameters.items() if value.grad is not None}
        place = {"done": self.done, "part": self.part, "sums": dict(self.sums), "means": dict(self.means)}
        self.agent.checkpoint.save({**place, **gradients, **optim.pack(self.parameters, self.optimizer)})
        self._saved = time.monotonic()

    def _resume(self) -> None:
        state = self.agent.checkpoint.load()
        if state is None:
            return
        self.done, self.part = int(state["done"]), int(state["part"])
        _add(self.sums, **state["sums"])
        _add(self.means, **state["means"])
        for _ in range(int(self.sums["taken"])):
            with self.policy.training():  # each step that was taken is a version of the policy
                pass
        optim.unpack(state, self.parameters, self.optimizer)
        for name, parameter in self.parameters.items():
            found = state.get(f"gradient/{name}")
            parameter.grad = None if found is None else torch.as_tensor(found).clone().to(parameter.device)


def _add(sums: dict[str, float], **values: float) -> None:
    for name, value in values.items():
        sums[name] += value
