"""A run, from an experiment to a finished folder. Calling it again goes on where it stopped."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xplearn.errors import IncompatibleError
from xplearn.experiment.build import check_experiment
from xplearn.experiment.context import Context
from xplearn.experiment.evaluate import evaluate
from xplearn.experiment.learn import learn
from xplearn.experiment.observer import Observer, Silent
from xplearn.experiment.opening import finish, open_run, plain, recorded_header
from xplearn.experiment.phases import gather
from xplearn.experiment.shared import Shared
from xplearn.experiment.stream import Stage, stages
from xplearn.experiment.study import studied
from xplearn.experiment.tracking import require_offered
from xplearn.metrics.table import Table
from xplearn.plugins import Plugins
from xplearn.record.folder import RunFolder, folder_name
from xplearn.record.header import Header
from xplearn.record.reader import load
from xplearn.schema import Experiment


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A finished run."""

    folder: Path
    header: Header
    table: Table
    taken: str = ""
    """What of it this call took from work that other runs had done, e.g. ``8 episodes, 1 learner call``; empty where nothing."""


def run_experiment(
    experiment: Experiment,
    *,
    plugins: Plugins,
    given: dict[str, Any],
    folder: Path | None = None,
    observer: Observer | None = None,
    shared: Shared | None = None,
) -> RunResult:
    """Carry an experiment out, or go on with it; a finished one is only read.

    Args:
        experiment: what to do.
        plugins: where its parts are found, and who watches.
        given: the configuration as the user wrote it, for the header.
        folder: where to record; by default ``<run.dir>/<run.name>-<hash of the experiment>``.
        observer: who is told about progress.
        shared: work that other runs may have done already, and that this one leaves for others; it changes nothing but the time.

    Raises:
        ConfigError, UnknownComponentError, IncompatibleError: the experiment is not sound; nothing was written.
        RecordError: the folder is damaged, newer, in use, or of another experiment or environment version.
    """
    place = RunFolder(folder or Path(experiment.run.dir) / folder_name(plain(experiment)))
    header = recorded_header(place, experiment)
    require_offered(experiment.run.track, plugins)
    taken = ""
    if header is None or header.status != "finished":
        problems = check_experiment(experiment, plugins)
        if problems:
            raise IncompatibleError(problems)
        with open_run(experiment, plugins, given, place, observer or Silent(), shared=shared) as run:
            walk(run)
            finish(run)
            taken = _counted(run)
    done = load(place.path)
    return RunResult(folder=place.path, header=done.header, table=done.table(), taken=taken)


def walk(run: Context) -> None:
    """Walk the stream: after each stage, and before the first learning, every domain is evaluated."""
    for stage in stages(run.experiment):
        for round in range(stage.config.rounds):
            play_round(run, stage, round)
        if not stage.config.warmup and run.evaluated_at != run.changes:
            evaluate(run, stage.point)


def play_round(run: Context, stage: Stage, round: int) -> None:
    """One round: gather trajectories, write the bank, study, learn."""
    run.agent.position = (stage.index, round)
    batch = functools.cache(lambda: gather(run, stage, round))
    if stage.config.records:
        learn(run, stage, round, "record", batch)
    if stage.point == 1 and round == 0 and run.experiment.evaluate.before:
        evaluate(run, 0)
    learn(run, stage, round, run.experiment.learns(stage.config), functools.cache(lambda: studied(run, stage, round, batch())))


def _counted(run: Context) -> str:
    """What was taken over, by number and kind."""
    return ", ".join(f"{count} {kind if count > 1 else kind.removesuffix('s')}" for kind, count in sorted(run.taken.items()))
