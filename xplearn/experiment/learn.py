"""Letting learners learn, and catching those that only seem to."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xplearn.errors import ContractError
from xplearn.experiment.contamination import contamination
from xplearn.experiment.context import Context
from xplearn.experiment.journal import CallJournal, NotedProgress, compare, size
from xplearn.experiment.shared.calls import Made, sharing
from xplearn.experiment.stream import Stage
from xplearn.interfaces import Learner
from xplearn.record.history import RESERVED
from xplearn.types import Trajectory

Batch = Callable[[], Sequence[Trajectory]]
"""Makes the batch when it is first needed: a resumed run may not need it any more."""

Figures = Mapping[str, float]
"""What a learner returned."""

Fingerprints = Mapping[str, Mapping[str, tuple[float, float]]]
"""Sum and sum of squares of each trainable parameter, by part."""


def learn(run: Context, stage: Stage, round: int, key: str, batch: Batch) -> None:
    """Let every learner of ``record``, ``learner`` or ``warmup`` learn from the batch, in order; each is one change of the agent.

    Raises:
        ContractError: a figure is not finite, training moved nothing, or the bank holds what was made from an evaluated task.
    """
    learners = run.parts.learners(key)
    version, before = run.agent.policy.version, fingerprints(run) if key not in ("record", *run.proved) else {}
    for number, (path, name, _) in enumerate(learners, start=1):
        change = f"{path}/{stage.index}/{round}"
        last = key != "record" or not run.parts.learners(run.experiment.learns(stage.config))
        keep = last and number == len(learners) and round == stage.config.rounds - 1
        run.change(change, partial(_learn, run, change, path, name, batch), keep=keep)
    if before and run.agent.policy.version > version:
        require_movement(before, fingerprints(run), whole=not stage.config.warmup)
        run.proved |= {key} if key == "warmup" or not stage.config.warmup else set()


@contextlib.contextmanager
def _learn(run: Context, change: str, path: str, name: str, batch: Batch) -> Iterator[None]:
    """One call of a learner, written down. Its checkpoint is written inside; lines that none follows are dropped when the run goes on."""
    trajectories, store = batch(), run.agent.store
    progress, journal = run.checkpoints.progress(change, run.observer), CallJournal(name)
    run.agent.checkpoint, run.agent.journal = NotedProgress(progress, journal), journal
    before = run.watch.look(store)
    with sharing(run, path, trajectories) as call:
        with run.checkpoints.changing(run.agent, shared=not run.folder.bank.exists()), contextlib.closing(progress):
            made = (call.take() if call else None) or _made(run, path, journal, trajectories)
            _require_sound(name, change, made.scalars)
            after, cost = run.watch.look(store), {"seconds": made.seconds}
            if after is not before:
                _require_clean(run, name, change)
                cost |= size(store, after)
        whose = _whose(run, change, name)
        run.writer.history({**whose, **note} for note in (*compare(before, after), *made.notes))
        run.writer.scalars({**whose, "call": cost, **made.scalars})
        run.hooks("xplearn_learn_end", stage=whose["stage"], round=whose["round"], learner=name, scalars=made.scalars)
        yield
        if call:
            call.leave(made)


def _made(run: Context, path: str, journal: CallJournal, trajectories: Sequence[Trajectory]) -> Made:
    learner = cast(Learner, run.components[path])
    began = time.perf_counter()
    scalars = {figure: float(value) for figure, value in learner.learn(trajectories, run.seen_from(path)).items()}
    seconds = time.perf_counter() - began
    return Made(scalars=scalars, seconds=seconds, notes=journal.lines, policy_version=run.agent.policy.version)


def _whose(run: Context, change: str, name: str) -> dict[str, Any]:
    path, stage, round = change.split("/")
    version = run.agent.policy.version
    return {"number": run.changes, "stage": int(stage), "round": int(round), "learner": path, "name": name, "policy_version": version}


def _require_sound(name: str, change: str, scalars: Figures) -> None:
    for figure, value in scalars.items():
        if not math.isfinite(value):
            raise ContractError(name, f"returned {figure} = {value} ({change}); a figure must be finite")
        if figure in RESERVED:
            raise ContractError(name, f"returned a figure called '{figure}', which says whose the figures are; call it otherwise")


def _require_clean(run: Context, name: str, change: str) -> None:
    """Refuse what was just written where it comes from an evaluated task: the call is undone when the run goes on."""
    problem = contamination(run)
    if problem:
        raise ContractError(name, f"{problem} ({change} is undone, nothing was evaluated with it)")


def fingerprints(run: Context) -> Fingerprints:
    """What tells whether parameters moved, for every part that offers some to train."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for path, part in run.components.items():
        offered = getattr(part, "parameters", None)
        found[path] = {name: _figures(value) for name, value in offered()} if callable(offered) else {}
    return {path: figures for path, figures in found.items() if figures}


def require_movement(before: Fingerprints, after: Fingerprints, *, whole: bool = True) -> None:
    """Refuse a training after which the parameters of some part are all what they were; unless ``whole``, those of every part.

    A warm-up without experience in it cannot reach an adapter that reads experience: that is for the learners of the stream.

    Raises:
        ContractError: the part, by its path in the configuration.
    """
    still = [path for path, figures in before.items() if figures == after.get(path)]
    if still and (whole or len(still) == len(before)):
        path = still[0]
        raise ContractError(
            path, f"offers {len(before[path])} trainable parameters and training moved none of them: no gradient reaches it"
        )


def _figures(parameter: Any) -> tuple[float, float]:
    values = parameter.detach().double()
    return float(values.sum()), float(values.square().sum())
