"""The evaluator: every domain, both arms, the bank frozen and proved unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xplearn.errors import ConfigError, ContractError
from xplearn.experiment.build import sampling
from xplearn.experiment.context import Context
from xplearn.experiment.idle import uses_selections
from xplearn.experiment.phases import play
from xplearn.experiment.pools import Pools, tasks_of
from xplearn.experiment.stream import ARMS, Domain, require_known, take
from xplearn.metrics.scores import evaluation_phase
from xplearn.record.reader import Run
from xplearn.rollout.collector import Assignment, assignments
from xplearn.schema import Experiment
from xplearn.types import Arm, Task

SCOPE = ("eval",)
"""Randomness does not know the evaluation point: the same episodes are compared before and after learning."""


def panels(experiment: Experiment, wanted: Iterable[Domain], pools: Pools) -> tuple[dict[str, tuple[Domain, list[Task]]], dict[str, str]]:
    """The evaluated tasks and the environment's version of each domain.

    Raises:
        ConfigError: an id or kind that no domain has, or not one task left.
    """
    which = experiment.evaluate.tasks
    known: list[Task] = []
    found, versions = {}, {}
    for domain in wanted:
        pool = pools.open(domain.env)
        tasks = tasks_of(pool, domain.env.name, which.split, "evaluate.tasks")
        known += tasks
        found[domain.name] = (domain, take(tasks, which))
        versions[domain.name] = pool.version
    require_known(known, which, "evaluate.tasks")
    if not any(tasks for _, tasks in found.values()):
        raise ConfigError("evaluate.tasks", f"leaves none of the {len(known)} tasks of split '{which.split}'; loosen skip, limit or part")
    return found, versions


def evaluate(run: Context, point: int) -> None:
    """Evaluate the agent as it is, as point ``point``: what is recorded already is not played again.

    Raises:
        ContractError: the bank changed meanwhile.
    """
    run.evaluated_at = run.changes
    if str(point) in run.header.bank:
        return
    before = run.agent.store.digest()
    run.agent.reached.clear()
    with run.agent.store.frozen():
        for name, (domain, tasks) in run.panels.items():
            play(run, domain.env, _episodes(run, point, name, tasks), sampling(run.experiment.evaluate.sampling))
    after = run.agent.store.digest()
    if before != after:
        raise ContractError("evaluation", f"the bank changed while it was frozen (digest {before} before, {after} after)")
    run.writer.sync()
    _tell_unused(run, point)
    run.header.bank[str(point)] = {"before": before, "after": after}
    run.header.write(run.folder.header)


def _tell_unused(run: Context, point: int) -> None:
    reached, conditioner = run.agent.reached, run.agent.conditioner
    unused = reached[False] and not reached[True] and not conditioner.on_request and uses_selections(run.parts)  # else ``idle`` told it
    if unused and not _shown(run, point):
        run.warn(
            "nothing of the bank reached the policy in a whole evaluation though something was selected: conditioner "
            f"'{run.experiment.conditioner.name}' passed over all that selector '{run.experiment.selector.name}' selected, e.g. for want "
            "of vectors in its space; both arms of that evaluation are one"
        )


def _shown(run: Context, point: int) -> bool:
    """Whether anything was shown in an episode of the point, those included that were played before an interruption or by another run."""
    recorded = Run(run.folder, run.header)
    played = (found for name in run.panels for found in recorded.trajectories(evaluation_phase(point, name)))
    return any(step.selection.experiences for found in played for step in found.steps)


def arms(run: Context) -> list[Arm]:
    """The arms worth playing, plain first: with a selector that never selects both would be the same."""
    wanted = [arm for arm in ARMS if arm in run.experiment.evaluate.arms]
    return wanted if run.parts.has_experience_arm else ["plain"]


def _episodes(run: Context, point: int, domain: str, tasks: Sequence[Task]) -> list[Assignment]:
    """Arm by arm: episodes played together share their time, and an arm's seconds are to be its own."""
    replicas, phase = run.experiment.evaluate.replicas, evaluation_phase(point, domain)
    return [episode for arm in arms(run) for episode in assignments(tasks, [arm], replicas, phase=phase, scope=SCOPE)]
