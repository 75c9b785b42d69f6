"""The contamination guard: no experience of a bank may be made from a task that the agent is evaluated on."""

from __future__ import annotations

from collections.abc import Iterator

from xplearn.experiment.context import Context
from xplearn.experiment.phases import training_tasks
from xplearn.experiment.stream import Domain, stages
from xplearn.types import Experience, Task


def contamination(run: Context) -> str:
    """What is wrong with the bank as it stands, and what to do; empty where nothing is.

    An entry without a source task cannot be checked. Task ids are unique within an environment only: an entry made from a trajectory of
    this run belongs to the environment of that trajectory; one that came from elsewhere is taken to belong to the evaluated environment,
    unless another environment of the stream trains on a task of that id.
    """
    found = _found(run)
    first = next(found, None)
    if first is None:
        return ""
    experience, domain = first
    others = sum(1 for _ in found)
    return (
        f"experience '{experience.id}'{f' and {others} more' if others else ''} of the bank was made from task '{experience.task}', which"
        f" {domain.name} is evaluated on; choose other tasks to evaluate on (evaluate.tasks) or to learn from (stream), or another bank"
    )


def warnings(run: Context) -> Iterator[str]:
    """What a person should know when a run begins: entries that cannot be checked, and tasks whose experience will be refused."""
    unsourced, entries = len(run.agent.store.from_task("")), len(run.agent.store)
    if unsourced:
        yield f"{unsourced} of the bank's {entries} entries name no source task: whether they come from evaluated tasks cannot be checked"
    if not run.parts.learners("record"):
        return
    evaluated = {(task.env, task.id) for _, tasks in run.panels.values() for task in tasks}
    for stage in stages(run.experiment):
        tasks = training_tasks(run.pools, stage) if stage.config.records else []
        shared = sum((task.env, task.id) in evaluated for task in tasks)
        if shared:
            yield f"{shared} tasks of {stage.path} are evaluated as well: the first experience that is written from one ends the run"


def _found(run: Context) -> Iterator[tuple[Experience, Domain]]:
    store = run.agent.store
    if not len(store):
        return
    for domain, tasks in run.panels.values():
        for task in tasks:
            for experience in store.get(sorted(store.from_task(task.id))):
                env = run.writer.environment(experience.source)
                if env == task.env or (env is None and not _trained_elsewhere(run, task)):
                    yield experience, domain


def _trained_elsewhere(run: Context, task: Task) -> bool:
    """Whether another environment of the stream trains on a task of this id."""
    trained = (other for stage in stages(run.experiment) for other in training_tasks(run.pools, stage))
    return any(other.id == task.id and other.env != task.env for other in trained)
