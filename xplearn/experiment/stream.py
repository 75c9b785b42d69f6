"""The stream: its stages, the domains they belong to, and which tasks are played."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from xplearn.errors import ConfigError, nearest
from xplearn.interfaces import RolloutPlan
from xplearn.interfaces.learner import Wanted
from xplearn.schema import EnvSpec, Experiment, StageConfig, TaskSlice
from xplearn.seeding import Key, shuffled
from xplearn.types import Arm, Task

T = TypeVar("T")

ARMS: tuple[Arm, ...] = ("plain", "experience")
"""In the order they are played."""

SOURCES: dict[Wanted, str] = {"rollout": "rollouts", "demonstration": "demonstrations", "both": "demonstrations beside rollouts"}
"""What a source is called where learners disagree."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One stage, numbered."""

    index: int
    """0-based position in the stream, warm-up stages counted."""
    point: int
    """Evaluation point after it: 1 for the first stage, warm-up stages not counted; 0 for a warm-up stage."""
    config: StageConfig
    before: int
    """Rounds of the stages before it, warm-up aside."""
    path: str
    """As overrides name it, e.g. ``stream.0``: by its number as listed, which another ``order`` does not change."""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """One environment of the stream, evaluated at every point."""

    name: str
    """The environment's name; a second configuration of the same environment is ``<name>#2``."""
    env: EnvSpec


def stages(experiment: Experiment) -> list[Stage]:
    """The stages of an experiment."""
    found: list[Stage] = []
    point = before = 0
    for index, config in enumerate(experiment.stream):
        point += not config.warmup
        where = {"point": 0 if config.warmup else point, "before": before}
        found.append(Stage(index=index, config=config, path=experiment.stage_path(index), **where))
        before += 0 if config.warmup else config.rounds
    return found


def domains(experiment: Experiment) -> list[Domain]:
    """The environments of the stages, warm-up aside, each once."""
    found: dict[str, Domain] = {}
    seen: defaultdict[str, int] = defaultdict(int)
    for config in experiment.stream:
        key = json.dumps(dataclasses.asdict(config.env), sort_keys=True, default=str)
        if config.warmup or key in found:
            continue
        seen[config.env.name] += 1
        suffix = f"#{seen[config.env.name]}" if seen[config.env.name] > 1 else ""
        found[key] = Domain(name=config.env.name + suffix, env=config.env)
    return list(found.values())


def take(tasks: Sequence[Task], which: TaskSlice) -> list[Task]:
    """The tasks of a slice: filters in the order of its fields, then the official order."""
    found = [task for task in tasks if (not which.ids or task.id in which.ids) and (not which.kinds or task.kind in which.kinds)]
    if which.skip or which.per_kind is not None:
        kept = {task.id for group in _by_kind(found) for task in evenly(group[which.skip :], which.per_kind)}
        found = [task for task in found if task.id in kept]
    return portion(spread(found, which.limit), which.part)


def spread(tasks: Sequence[Task], count: int | None) -> list[Task]:
    """At most ``count`` tasks in the given order, spread evenly over the kinds and over each kind's list.

    Where kinds take turns, every n-th task of the list itself could be of one kind.
    """
    kept = {task.id for task in evenly([task for group in _by_kind(tasks) for task in group], count)}
    return [task for task in tasks if task.id in kept]


def portion(tasks: Sequence[Task], part: str | None) -> list[Task]:
    """One part of the tasks in the given order, e.g. ``2/4``; None for all. The parts are disjoint and together the whole.

    The tasks are dealt like cards, kind after kind: two parts differ by at most one task, in each kind and in all, and a kind with as many
    tasks as there are parts is in every one. A kind is shuffled first, keyed: where a list enumerates combinations, every n-th are alike.
    """
    if part is None:
        return list(tasks)
    number, count = map(int, part.split("/"))
    deck = [task for group in _by_kind(tasks) for task in shuffled(group, 0, "part", group[0].kind)]
    kept = {task.id for task in deck[number - 1 :: count]}
    return [task for task in tasks if task.id in kept]


def in_turn(tasks: Sequence[Task], count: int | None, round: int, seed: int, *key: Key) -> list[Task]:
    """The tasks of one round (0-based) where each takes the next ``count`` of a shuffled order, pass after pass; None for all.

    Each pass has an order of its own, keyed, and every task once. A round that straddles two passes holds no task twice: one that it has
    already keeps its place in the new pass for the next round.
    """
    if count is None or count >= len(tasks):
        return list(tasks)
    chosen: list[int] = []
    left: list[int] = []
    passes = 0
    for _ in range(round + 1):
        chosen, left = left[:count], left[count:]
        if len(chosen) < count:
            order = shuffled(range(len(tasks)), seed, *key, passes)
            held = set(chosen)
            fresh = [index for index in order if index not in held][: count - len(chosen)]
            taken = set(fresh)
            chosen, left = chosen + fresh, [index for index in order if index not in taken]
            passes += 1
    return [tasks[index] for index in chosen]


def evenly(items: Sequence[T], count: int | None) -> list[T]:
    """At most ``count`` items, the first among them, spread evenly over the list."""
    if count is None or count >= len(items):
        return list(items)
    return [items[index * len(items) // count] for index in range(count)]


def require_known(tasks: Sequence[Task], which: TaskSlice, path: str) -> None:
    """Refuse ids and kinds that no task has.

    Raises:
        ConfigError: with the nearest known one, and what kinds there are.
    """
    ids, kinds = dict.fromkeys(task.id for task in tasks), dict.fromkeys(task.kind for task in tasks)
    for field, wanted, known, listed in (("ids", which.ids, ids, ""), ("kinds", which.kinds, kinds, f" (known: {', '.join(kinds)})")):
        for name in wanted:
            if name not in known:
                hint = nearest(name, known)
                raise ConfigError(f"{path}.{field}", f"no task has '{name}'" + (f"; did you mean '{hint}'?" if hint else "") + listed)


def merge_plans(plans: Sequence[tuple[str, RolloutPlan]]) -> RolloutPlan:
    """What all learners together want to learn from: union of arms, largest replica count, any need, earliest times.

    Args:
        plans: name and plan of each learner; none asks for rollouts with experience.

    Raises:
        ConfigError: they want different sources; all sides are named.
    """
    choosy = [(name, plan) for name, plan in plans if not plan.indifferent] or list(plans) or [("", RolloutPlan())]
    wishes = {source: [name for name, plan in choosy if plan.source == source] for source in SOURCES}
    sides = [f"{', '.join(names)} want{'s' if len(names) == 1 else ''} {SOURCES[source]}" for source, names in wishes.items() if names]
    if len(sides) > 1:
        cure = "drop one, or let who learns from demonstrations warm up: stream.0.warmup=true warmup=[…]"
        raise ConfigError("learner", f"{'; '.join(sides)}: one round has one source; {cure}")
    plain_from = min((plan.plain_from for _, plan in choosy if plan.plain_from is not None), default=None)
    bereft = [name for name, plan in choosy if plain_from is not None and "plain" not in plan.arms]
    if bereft:
        reason = f"{', '.join(bereft)} learns with experience alone, and from round {plain_from} on there is none; say arms=both there"
        raise ConfigError("learner", reason)
    return RolloutPlan(
        arms=tuple(arm for arm in ARMS if any(arm in plan.arms for _, plan in choosy)),
        replicas=max(plan.replicas for _, plan in choosy),
        needs_logprobs=any(plan.needs_logprobs for _, plan in choosy),
        source=choosy[0][1].source,
        rollouts_from=min(plan.rollouts_from for _, plan in choosy),
        grouped=any(plan.grouped for _, plan in choosy),
        plain_from=plain_from,
    )


def _by_kind(tasks: Sequence[Task]) -> list[list[Task]]:
    found: dict[str, list[Task]] = {}
    for task in tasks:
        found.setdefault(task.kind, []).append(task)
    return list(found.values())
