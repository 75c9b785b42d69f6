"""The contamination guard: no experience of a bank may be made from a task that the agent is evaluated on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from xplearn.experiment.build import Parts
from xplearn.experiment.context import Context
from xplearn.experiment.idle import idle
from xplearn.experiment.phases import training_tasks
from xplearn.experiment.pools import Pools
from xplearn.experiment.stream import Domain, Stage, stages
from xplearn.types import Experience, Task

Panels = Mapping[str, tuple[Domain, Sequence[Task]]]
"""Domain and evaluated tasks by name."""

_TRAJECTORY = re.compile(r"(?:train/\d+/\d+|shown/\d+|eval/\d+/[^/]+)/(.+)/(?:plain|experience)/\d+", re.DOTALL)
"""Id of a trajectory, of whichever run: phase, task, arm and replica."""


def contamination(run: Context) -> str:
    """What is wrong with the bank as it stands, and what to do; empty where nothing is.

    An entry is made from the task that it names and from those of its source trajectories, all of ``meta["sources"]`` among them; one
    that tells neither cannot be checked. Task ids are unique within an environment only: an entry made from a trajectory of this run
    belongs to the environment of that trajectory; one that came from elsewhere is taken to belong to the evaluated environment, unless
    another environment of the stream trains on a task of that id.
    """
    found = _found(run)
    first = next(found, None)
    if first is None:
        return ""
    experience, task, domain = first
    others = sum(1 for _ in found)
    return (
        f"experience '{experience.id}'{f' and {others} more' if others else ''} of the bank was made from task '{task}', which"
        f" {domain.name} is evaluated on; choose other tasks to evaluate on (evaluate.tasks) or to learn from (stream), or another bank"
    )


def warnings(run: Context) -> Iterator[str]:
    """What a person should know when a run begins or goes on: parts that are idle, tasks both learned from and evaluated."""
    yield from idle(run.parts)
    yield from overlaps(run.parts, run.pools, run.panels)


def doubts(run: Context) -> Iterator[str]:
    """What cannot be known of the bank as it stands: where entries come from."""
    unsourced, entries = len(run.agent.store.from_task("")), len(run.agent.store)
    if unsourced:
        yield f"{unsourced} of the bank's {entries} entries name no source task: whether they come from evaluated tasks cannot be checked"
    doubtful = sum(1 for _ in _doubtful(run))
    if doubtful:
        yield (
            f"{doubtful} of the bank's {entries} entries come from elsewhere and name tasks that are evaluated, as those of another"
            " environment that is trained on are called: they are taken to be of the latter"
        )


def overlaps(parts: Parts, pools: Pools, panels: Panels) -> Iterator[str]:
    """What is learned from and evaluated as well, stage by stage, and what comes of it."""
    evaluated = _by_id(panels)
    for stage in stages(parts.experiment):
        writes = stage.config.records and parts.learners("record")
        trains = parts.learners(parts.experiment.learns(stage.config))
        tasks = training_tasks(pools, stage) if writes or trains else []
        shared = sum(any(_alike(task, other) for _, other in evaluated.get(task.id, ())) for task in tasks)
        if shared and writes:
            yield f"{_counted(shared, stage)} evaluated as well: the first experience that is written from one ends the run"
        if shared and trains:
            yield f"{_counted(shared, stage)} evaluated as well: what is learned from them is no sign of what new tasks would show"


def _counted(shared: int, stage: Stage) -> str:
    return f"{shared} tasks of {stage.path} are" if shared > 1 else f"1 task of {stage.path} is"


class _Tasks:
    """The tasks of a run by their ids: those that are evaluated, and those that any stage trains on, which are looked at where ids meet."""

    def __init__(self, run: Context) -> None:
        self._run, self.evaluated = run, _by_id(run.panels)

    def is_of(self, env: str | None, task: Task) -> bool:
        """Whether a task of that id, met in an environment or somewhere, is the evaluated one."""
        if env is None:
            return not self.trained_elsewhere(task)
        return env == task.env or any(_alike(trained, task) for trained in self._trained.get(task.id, ()) if trained.env == env)

    def trained_elsewhere(self, task: Task) -> bool:
        """Whether another environment of the stream trains on another task of this id."""
        return any(not _alike(trained, task) for trained in self._trained.get(task.id, ()))

    @cached_property
    def _trained(self) -> Mapping[str, list[Task]]:
        found: defaultdict[str, list[Task]] = defaultdict(list)
        for stage in stages(self._run.experiment):
            for task in training_tasks(self._run.pools, stage):
                found[task.id].append(task)
        return found


def _found(run: Context) -> Iterator[tuple[Experience, str, Domain]]:
    """Entries made from an evaluated task, with the task and its domain."""
    tasks = _Tasks(run)
    for experience in run.agent.store:
        hits = (
            (experience, task.id, domain)
            for env, id in _made_from(run, experience)
            for domain, task in tasks.evaluated.get(id, ())
            if tasks.is_of(env, task)
        )
        yield from islice(hits, 1)


def _doubtful(run: Context) -> Iterator[Experience]:
    """Entries from elsewhere that could be of an evaluated task or of one that another environment trains on."""
    tasks = _Tasks(run)
    for experience in run.agent.store:
        unknown = {id for env, id in _made_from(run, experience) if env is None}
        if any(tasks.trained_elsewhere(task) for id in unknown for _, task in tasks.evaluated.get(id, ())):
            yield experience


def _made_from(run: Context, experience: Experience) -> Iterator[tuple[str | None, str]]:
    """Environment, where it is known, and id of every task that an entry was made from."""
    own = run.writer.origin(experience.source)
    if experience.task:
        yield own[0] if own else None, experience.task
    more = experience.meta.get("sources")
    for source in (experience.source, *(more if isinstance(more, list | tuple) else ())):
        known, named = run.writer.origin(str(source)), _TRAJECTORY.fullmatch(str(source))
        if known or named:
            yield known or (None, named[1] if named else "")


def _by_id(panels: Panels) -> Mapping[str, list[tuple[Domain, Task]]]:
    found: defaultdict[str, list[tuple[Domain, Task]]] = defaultdict(list)
    for domain, tasks in panels.values():
        for task in tasks:
            found[task.id].append((domain, task))
    return found


def _alike(one: Task, other: Task) -> bool:
    """Whether two tasks are one: of one environment, or in the same words of two that one plugin has."""
    plugins = {task.env.partition(".")[0] for task in (one, other)}
    return one.id == other.id and (one.env == other.env or (len(plugins) == 1 and one.goal == other.goal))
