"""From a run folder to inspect_ai log files."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_ai.log import EvalLog, EvalSample, write_eval_log

from xplearn import EpisodeResult, load
from xplearn.files import sync
from xplearn_inspect.sample import Shared, sample
from xplearn_inspect.spec import Place, facts, log, policy

if TYPE_CHECKING:
    from xplearn.record.reader import Run


def export(folder: Path, target: Path) -> Iterator[tuple[Path, int]]:
    """Write a log for each evaluation point, domain and arm into a folder named as the run's; yield its path and number of episodes.

    At any time one log's episodes are in memory. A log that is there already is replaced.

    Args:
        folder: of a run, finished or not.
        target: where the run's folder of logs goes; made if it is not there.

    Raises:
        RecordError: it is no run folder, or is damaged.
    """
    run = load(folder)
    results = {result.id: result for result in run.episodes() if result.phase.startswith("eval/")}
    logs = target / folder_name(run.path.resolve().name)
    logs.mkdir(parents=True, exist_ok=True)
    for row in run.table().rows:
        place = Place(row.point, row.domain, row.arm)
        samples = list(_samples(run, place, results))
        if samples:
            path = logs / file_name(found := log(run, place, row, samples))
            _write(found, path)
            yield path, len(samples)


def folder_name(run: str) -> str:
    """The run's, as any file system takes it: inspect_ai lists folders in folders, and so says which log is of which run."""
    return re.sub(r"[^\w.-]", "-", run, flags=re.ASCII).strip(".")[:100] or "run"


def file_name(log: EvalLog) -> str:
    """As inspect_ai names its own logs: when it began, the task, and an id; here with the arm and the evaluation point."""
    point, arm = log.eval.task_args["point"], log.eval.task_args["arm"]
    task = re.sub(r"[^\w.]|_", "-", f"{log.eval.task}-{point}-{arm}")[:100]
    return f"{log.eval.created.replace(':', '-')}_{task}_{log.eval.eval_id}.eval"


def _samples(run: Run, place: Place, results: Mapping[str, EpisodeResult]) -> Iterator[EvalSample]:
    """The episodes of one log, in the order they finished."""
    shared = Shared(
        run=run.path.resolve().name,
        policy=policy(run.header),
        began=datetime.datetime.fromisoformat(run.header.started),
        facts=facts(run.header, place),
    )
    for trajectory in run.trajectories(f"eval/{place.point}/{place.domain}"):
        result = results.get(trajectory.id)
        if trajectory.arm == place.arm and result is not None:
            yield sample(trajectory, result, shared)


def _write(log: EvalLog, path: Path) -> None:
    """Put a log in its place, complete and on disk."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        write_eval_log(log, temporary, format="eval")
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync(path.parent)
