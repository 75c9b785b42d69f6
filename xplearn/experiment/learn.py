"""Letting learners learn, and catching those that only seem to."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from xplearn.errors import ContractError
from xplearn.experiment.context import Context
from xplearn.experiment.stream import Stage
from xplearn.interfaces import Learner
from xplearn.types import Trajectory

Batch = Callable[[], Sequence[Trajectory]]
"""Makes the batch when it is first needed: a resumed run may not need it any more."""

Fingerprints = Mapping[str, Mapping[str, tuple[float, float]]]
"""Sum and sum of squares of each trainable parameter, by part."""


def learn(run: Context, stage: Stage, round: int, key: str, batch: Batch) -> None:
    """Let every learner of ``record``, ``learner`` or ``warmup`` learn from the batch, in order; each is one change of the agent.

    Raises:
        ContractError: a figure is not finite, or training moved nothing.
    """
    learners = run.parts.learners(key)
    version, before = run.agent.policy.version, fingerprints(run) if key not in ("record", *run.proved) else {}
    for number, (path, name, learner) in enumerate(learners, start=1):
        change = f"{path}/{stage.index}/{round}"
        keep = key != "record" and number == len(learners) and round == stage.config.rounds - 1
        run.change(change, partial(_learn, run, change, name, learner, batch), keep=keep)
    if before and run.agent.policy.version > version:
        require_movement(before, fingerprints(run))
        run.proved.add(key)


def _learn(run: Context, change: str, name: str, learner: Learner, batch: Batch) -> None:
    trajectories = batch()
    run.agent.checkpoint = progress = run.checkpoints.progress(change, run.observer)
    with run.checkpoints.changing(run.agent, shared=not run.folder.bank.exists()), contextlib.closing(progress):
        scalars = {figure: float(value) for figure, value in learner.learn(trajectories, run.agent).items()}
        _require_finite(name, change, scalars)
    path, stage, round = change.split("/")
    whose = {"stage": int(stage), "round": int(round), "learner": path, "name": name, "policy_version": run.agent.policy.version}
    run.writer.scalars({**whose, **scalars})
    run.hooks("xplearn_learn_end", stage=int(stage), round=int(round), learner=name, scalars=scalars)


def _require_finite(name: str, change: str, scalars: Mapping[str, float]) -> None:
    for figure, value in scalars.items():
        if not math.isfinite(value):
            raise ContractError(name, f"returned {figure} = {value} ({change}); a figure must be finite")


def fingerprints(run: Context) -> Fingerprints:
    """What tells whether parameters moved, for every part that offers some to train."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for path, part in run.components.items():
        offered = getattr(part, "parameters", None)
        found[path] = {name: _figures(value) for name, value in offered()} if callable(offered) else {}
    return {path: figures for path, figures in found.items() if figures}


def require_movement(before: Fingerprints, after: Fingerprints) -> None:
    """Refuse a training after which some part's parameters are all what they were.

    Raises:
        ContractError: the part, by its path in the configuration.
    """
    for path, figures in before.items():
        if figures == after.get(path):
            raise ContractError(path, f"offers {len(figures)} trainable parameters and training moved none of them: no gradient reaches it")


def _figures(parameter: Any) -> tuple[float, float]:
    values = parameter.detach().double()
    return float(values.sum()), float(values.square().sum())
