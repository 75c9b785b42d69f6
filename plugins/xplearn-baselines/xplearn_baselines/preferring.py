"""One round of DPO: keyed order, progress saved, resumed to the very same weights."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from xplearn import AgentView, ContractError, LocalPolicy, derive
from xplearn.learning import optim
from xplearn.learning.clone import CloneLearner
from xplearn_baselines.dpo import EveryStep, TrajectoryTrainer, trainer
from xplearn_baselines.dpo_config import DpoConfig
from xplearn_baselines.pairs import NAME, Line


@dataclass(kw_only=True)
class Preferring:
    """One call of ``learn`` on pairs."""

    settings: CloneLearner
    """What holds in both phases."""
    dpo: DpoConfig
    agent: AgentView
    policy: LocalPolicy
    parameters: dict[str, torch.nn.Parameter]
    pairs: Sequence[tuple[Line, Line]]
    done: int = 0
    figures: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        dpo, later = self.dpo, self.agent.position[1] > 1
        self.beta, self.lr = (dpo.beta_later, dpo.lr_later) if later else (dpo.beta, dpo.lr)
        self.lr_field = "dpo.lr_later" if later else "dpo.lr"
        self.total = math.ceil(dpo.epochs * len(self.pairs) / dpo.batch)
        self.warmup = math.ceil(dpo.warmup_share * self.total)
        self.optimizer = optim.adamw(self.parameters, lr=self.lr, weight_decay=self.settings.weight_decay, groups=self.settings.lr_groups)
        self.saved = time.monotonic()

    def run(self) -> dict[str, float]:
        """Train what is left and return the figures."""
        seed = derive(self.agent.seed, NAME, "trainer", *self.agent.position)
        batch, norm = self.dpo.batch, self.settings.max_grad_norm
        with trainer(*self.policy.pretrained(), self.pairs, beta=self.beta, batch=batch, max_grad_norm=norm, seed=seed) as trained:
            self._resume()  # only now: the reference is the policy of before the first step
            trained.train_dataset = trained.train_dataset.select(self._order()[self.done * batch :])
            self._attach(trained)
            trained.train()
        return {**self.figures, "steps": float(self.done)}

    def _attach(self, trained: TrajectoryTrainer) -> None:
        """Have the trainer use our optimiser, which resumes, and our rates."""
        before = self.done
        rates = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: self._rate(before + step))
        trained.optimizer, trained.lr_scheduler = self.optimizer, rates
        trained.add_callback(EveryStep(self._step_done))

    def _rate(self, step: int) -> float:
        return optim.rate("constant", step, self.total, warmup=self.warmup)

    def _order(self) -> list[int]:
        """Numbers of the pairs, epoch after epoch."""
        key = (self.agent.seed, NAME, "order", *self.agent.position)
        numbers = range(len(self.pairs))
        return [number for epoch in range(self.dpo.epochs) for number in sorted(numbers, key=lambda n: derive(*key, epoch, n))]

    def _step_done(self, logs: dict[str, float]) -> None:
        loss, norm = logs["loss"], logs.get("grad_norm", 0.0)
        self.done += 1
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise ContractError(
                NAME,
                f"the loss is {loss} (gradient norm {norm}) at step {self.done} of {self.total}; the weights are as before; "
                f"lower the learning rate, e.g. {self.lr_field}={self.lr / 5:.0e}",
            )
        self.figures.setdefault("loss_first", loss)
        self.figures["loss_last"] = loss
        self.figures["reward_margin"], self.figures["reward_accuracy"] = logs["rewards/margins"], logs["rewards/accuracies"]
        self.agent.checkpoint.report(self.done, self.total, loss=loss, reward_margin=logs["rewards/margins"])
        if time.monotonic() - self.saved >= self.settings.checkpoint_seconds and self.done < self.total:
            self.agent.checkpoint.save({"done": self.done, "figures": self.figures, **optim.pack(self.parameters, self.optimizer)})
            self.saved = time.monotonic()

    def _resume(self) -> None:
        state: Any = self.agent.checkpoint.load()
        if state is not None:
            self.done, self.figures = int(state["done"]), dict(state["figures"])
            optim.unpack(state, self.parameters, self.optimizer)
