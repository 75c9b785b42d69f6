"""Opening a run: its folder, parts and agent, restored to where they were; and closing it, whatever happened."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from xplearn.errors import RecordError
from xplearn.experiment.build import build_parts
from xplearn.experiment.checkpoint import Checkpoints
from xplearn.experiment.contamination import contamination, doubts, overlaps, warnings
from xplearn.experiment.context import Context
from xplearn.experiment.evaluate import panels
from xplearn.experiment.idle import idle
from xplearn.experiment.observer import Hooks, Observer
from xplearn.experiment.phases import require_training_tasks
from xplearn.experiment.pools import Pools
from xplearn.experiment.prepare import corpus
from xplearn.experiment.shared import Shared
from xplearn.experiment.stream import domains
from xplearn.experiment.telling import Telling
from xplearn.experiment.tracking import trackers
from xplearn.plugins import Plugins
from xplearn.record.folder import RunFolder, folder_name
from xplearn.record.header import Header, Status, panel, read_header, require_comparable
from xplearn.record.provenance import git_state, package_versions
from xplearn.record.reader import Run
from xplearn.record.writer import RunWriter
from xplearn.schema import Experiment


def plain(experiment: Experiment) -> dict[str, Any]:
    """The whole experiment as JSON values, defaults filled in."""
    raw: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(experiment), default=str))
    return raw


def recorded_header(place: RunFolder, experiment: Experiment) -> Header | None:
    """The header of a folder that holds this experiment, or None where nothing was recorded yet.

    Raises:
        RecordError: it is damaged, newer, or of another experiment.
    """
    if not place.header.exists():
        return None
    header = read_header(place.header)
    if folder_name(header.resolved) != folder_name(plain(experiment)):
        raise RecordError(place.path, "holds another experiment; take another folder, or leave it out")
    return header


def check_tasks(experiment: Experiment, plugins: Plugins) -> list[str]:
    """Refuse task slices that cannot be played or evaluated, and trackers that cannot work, without playing anything.

    Returns:
        What a person should know before they are played.

    Raises:
        ConfigError: an id, kind or split that an environment does not have, or nothing left; a tracker that no plugin offers.
        PluginError: a tracker lacks a package.
    """
    trackers(experiment.run.track, plugins)
    parts = build_parts(experiment, plugins.registry)
    with contextlib.closing(Pools(parts, plugins.registry)) as pools:
        evaluated, _ = panels(experiment, domains(experiment), pools)
        require_training_tasks(experiment, pools)
        return [*idle(parts), *overlaps(parts, pools, evaluated)]


@contextlib.contextmanager
def open_run(
    experiment: Experiment, plugins: Plugins, given: dict[str, Any], place: RunFolder, observer: Observer, *, shared: Shared | None = None
) -> Iterator[Context]:
    """A run ready to walk. When the block ends everything is closed and the header says how it ended.

    A run that cannot even begin (data missing, folder in use, nothing played yet when it fails, …) leaves nothing behind.

    Raises:
        ConfigError, PluginError: a tracker that no plugin offers, or that lacks a package.
        RecordError: the folder is in use, damaged, or was recorded with another environment version or panel.
    """
    with contextlib.ExitStack() as stack:
        run = _assembled(stack, experiment, plugins, place, given=given, observer=observer, shared=shared)
        stack.callback(_close, run)
        stack.push(partial(_withdraw, run))
        _set_up(run)
        run.hooks("xplearn_run_start", folder=str(place.path), config=run.header.resolved)
        with _status(run):
            yield run


def _assembled(
    stack: contextlib.ExitStack,
    experiment: Experiment,
    plugins: Plugins,
    place: RunFolder,
    *,
    given: dict[str, Any],
    observer: Observer,
    shared: Shared | None,
) -> Context:
    """The run with its folder locked, its header written and nothing set up yet; the stack gives back what it holds."""
    watching = trackers(experiment.run.track, plugins)
    place.acquire()
    stack.callback(place.release)
    observer = stack.enter_context(contextlib.closing(Telling(observer, place.path)))
    parts = build_parts(experiment, plugins.registry)
    pools = stack.enter_context(contextlib.closing(Pools(parts, plugins.registry)))
    tasks, versions = panels(experiment, domains(experiment), pools)
    require_training_tasks(experiment, pools)
    header = _header(experiment, plugins, given, place)
    _stamp(header, versions, {name: panel(chosen) for name, (_, chosen) in tasks.items()}, place)
    header.parts = parts.describe()
    header.write(place.header)
    checkpoints = Checkpoints(place.checkpoints)
    return Context(
        experiment=experiment,
        parts=parts,
        agent=parts.agent(experiment.run.seed),
        pools=pools,
        folder=place,
        writer=stack.enter_context(contextlib.closing(RunWriter(place, changes=checkpoints.last.number if checkpoints.last else -1))),
        header=header,
        checkpoints=checkpoints,
        observer=observer,
        hooks=Hooks(plugins, observer, watching),
        panels=tasks,
        shared=shared,
    )


@contextlib.contextmanager
def _status(run: Context) -> Iterator[None]:
    """Keep the header's status true, whatever happens inside."""
    run.header.status, run.header.error = "running", None
    run.header.write(run.folder.header)
    status: Status = "failed"
    try:
        yield
        status = "finished"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    except BaseException as error:
        run.header.error = str(error) or repr(error)
        raise
    finally:
        run.header.status = status
        run.header.write(run.folder.header)
        run.hooks("xplearn_run_end", folder=str(run.folder.path), status=status)


def _header(experiment: Experiment, plugins: Plugins, given: dict[str, Any], place: RunFolder) -> Header:
    """The recorded header, or a new one."""
    recorded = recorded_header(place, experiment)
    if recorded is not None:
        return recorded
    return Header(
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        config=given,
        resolved=plain(experiment),
        packages=package_versions(),
        plugins=dict(plugins.versions),
        git=git_state(Path.cwd()),
        seed=experiment.run.seed,
    )


def _stamp(header: Header, versions: dict[str, str], figures: dict[str, dict[str, Any]], place: RunFolder) -> None:
    require_comparable(place.path, header.environments, versions, "environment version")
    require_comparable(place.path, header.panels, figures, "panel")
    header.environments, header.panels = versions, figures


def _set_up(run: Context) -> None:
    """Set every part up and restore the last checkpoint, or write the first."""
    agent, last = run.agent, run.checkpoints.last
    agent.policy.setup(agent)
    if agent.policy.needs_corpus:
        if last is None:
            agent.policy.prepare(corpus(run))
        else:
            run.checkpoints.reopen_policy(agent)
    agent.store.open(str(run.folder.bank / "bank.sqlite"))
    for path, part in run.components.items():
        if path != "policy":
            part.setup(run.seen_from(path))
    if last is None:
        run.checkpoint("start")
    else:
        _require_own_bank(run)
        run.checkpoints.restore(agent, run.components)
        run.name_encoder()
    _require_clean(run)
    run.header.computing = dict(agent.policy.computing)
    run.proved = _proved(Run(run.folder, run.header).scalars(), run.experiment)


def _proved(lines: Iterable[Mapping[str, Any]], experiment: Experiment) -> set[str]:
    """``learner`` and ``warmup``, where the learners' figures tell that the policy was trained: it was seen to move then.

    What ``learner`` did in a warm-up does not count.
    """
    found, before = set(), 0
    for line in lines:
        version = line.get("policy_version", before + 1)  # older lines do not tell
        key = line["learner"].partition(".")[0]
        if version > before and (key == "warmup" or not experiment.stream[line["stage"]].warmup):
            found.add(key)
        before = version
    return found


def _require_own_bank(run: Context) -> None:
    """Refuse to go on over what others wrote to a bank outside the run folder."""
    if len(run.agent.store) and not run.folder.bank.exists():
        run.checkpoints.require_own_bank(run.agent, {result.id: result.score for result in Run(run.folder, run.header).episodes()})


def _require_clean(run: Context) -> None:
    """Refuse a bank that holds what was made from evaluated tasks, and tell what cannot be checked."""
    problem = contamination(run)
    if problem:
        raise RecordError(run.folder.path, problem)
    began = run.checkpoints.last is None or run.checkpoints.last.number == 0
    for line in doubts(run):  # of the bank that the run began with: the header is to say the same of one that was interrupted
        (run.warn if began else run.observer.note)(line)
    for line in warnings(run):
        run.warn(line)


def _withdraw(run: Context, kind: type[BaseException] | None, *_: object) -> None:
    """A new run that ends early, with no episode played and nothing learned, leaves no folder."""
    last = run.checkpoints.last
    if kind is not None and not run.writer.has_episodes and (last is None or last.number == 0):
        run.folder.withdraw()


def _close(run: Context) -> None:
    for part in reversed(list(run.components.values())):
        part.close()


def finish(run: Context) -> None:
    """Write what the run found into its header."""
    run.writer.sync()
    recorded = Run(run.folder, run.header)
    results = list(recorded.episodes())
    run.header.tokens = {"in": sum(result.tokens_in for result in results), "out": sum(result.tokens_out for result in results)}
    run.header.seconds = sum(result.seconds for result in results)
    run.header.results = [dataclasses.asdict(row) for row in recorded.table().rows]
