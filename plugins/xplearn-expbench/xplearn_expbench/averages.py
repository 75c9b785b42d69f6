"""What a run scored by task, and averaged over tasks in both ways.

The paper's group weights each task by its questions; the mean over tasks counts each task once. On sets of unequal size the two differ by
points, so both are told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xplearn import Bootstrap, EpisodeResult, Interval
from xplearn_expbench.catalogue import TASKS

Array = np.ndarray[Any, np.dtype[np.float64]]

_PREFIX = "expbench."


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One task, or an average over several."""

    name: str
    questions: int
    plain: float | None
    """0 to 100; None where the arm was not played."""
    experience: float | None
    shown: Interval | None
    """Experience minus plain in points, paired on the same questions, with its interval over questions."""
    learned: Interval | None
    """Plain minus plain before any learning, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """Scores of one task at one point by arm and question, 0 to 100, replicas averaged."""

    name: str
    arms: Mapping[str, Mapping[str, float]]
    base: Mapping[str, float] = field(default_factory=dict)

    @property
    def questions(self) -> int:
        return len({question for scores in self.arms.values() for question in scores})

    def scores(self, arm: str) -> Array:
        return np.array(list(self.arms.get(arm, {}).values()))

    def shown(self) -> Array:
        return _paired(self.arms.get("experience", {}), self.arms.get("plain", {}))

    def learned(self) -> Array:
        return _paired(self.arms.get("plain", {}), self.base)


def averages(episodes: Iterable[EpisodeResult], bootstrap: Bootstrap | None = None) -> dict[int, list[Line]]:
    """The lines of each evaluation point: its tasks, then for each scenario of several tasks, and for all, both averages.

    Args:
        episodes: of a run; those outside evaluation, or of other environments, are left out.
        bootstrap: how intervals are drawn.
    """
    bootstrap = bootstrap or Bootstrap()
    return {point: [_line(*group, bootstrap) for group in _groups(tasks)] for point, tasks in _tasks(episodes).items()}


def _tasks(episodes: Iterable[EpisodeResult]) -> dict[int, list[_Task]]:
    found: dict[tuple[int, str], dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for episode in episodes:
        head, _, rest = episode.phase.partition("/")
        number = rest.partition("/")[0]
        if head == "eval" and number.isdecimal() and episode.env.startswith(_PREFIX):
            found[int(number), episode.kind][episode.arm][episode.task].append(100.0 * episode.score)
    means = {
        key: {arm: {name: sum(scores) / len(scores) for name, scores in sorted(found[key][arm].items())} for arm in found[key]}
        for key in sorted(found, key=_order)
    }
    by_point: dict[int, list[_Task]] = defaultdict(list)
    for (point, name), arms in means.items():
        base = means.get((0, name), {}).get("plain", {}) if point else {}
        by_point[point].append(_Task(name=name, arms=arms, base=base))
    return dict(by_point)


def _order(key: tuple[int, str]) -> tuple[int, int, str]:
    names = list(TASKS)
    return key[0], names.index(key[1]) if key[1] in TASKS else len(names), key[1]


def _groups(tasks: Sequence[_Task]) -> list[tuple[str, Sequence[_Task], bool]]:
    """``(name, tasks, whether each counts once)`` of every line."""
    single = [(task.name, [task], False) for task in tasks]
    scenarios: dict[str, list[_Task]] = defaultdict(list)
    for task in tasks:
        scenarios[TASKS[task.name].group if task.name in TASKS else "other"].append(task)
    pooled = [(name, members) for name, members in scenarios.items() if 1 < len(members) < len(tasks)]
    pooled += [("all", list(tasks))] if len(tasks) > 1 else []
    several = [(f"{name}, {how}", members, each) for name, members in pooled for how, each in (("by questions", False), ("by tasks", True))]
    return [*single, *several]


def _line(name: str, tasks: Sequence[_Task], each: bool, bootstrap: Bootstrap) -> Line:
    return Line(
        name=name,
        questions=sum(task.questions for task in tasks),
        plain=_average([task.scores("plain") for task in tasks], each),
        experience=_average([task.scores("experience") for task in tasks], each),
        shown=_difference([task.shown() for task in tasks], each, bootstrap),
        learned=_difference([task.learned() for task in tasks], each, bootstrap),
    )


def _paired(ours: Mapping[str, float], theirs: Mapping[str, float]) -> Array:
    return np.array([score - theirs[question] for question, score in ours.items() if question in theirs])


def _weights(groups: Sequence[Array], each: bool) -> Array:
    sizes = np.array([1.0 if each else float(len(group)) for group in groups])
    weights: Array = sizes / sizes.sum()
    return weights


def _average(groups: Sequence[Array], each: bool) -> float | None:
    if not all(len(group) for group in groups):
        return None
    return float(_weights(groups, each) @ np.array([group.mean() for group in groups]))


def _difference(groups: Sequence[Array], each: bool, bootstrap: Bootstrap) -> Interval | None:
    """With an interval over the questions of each task: the tasks are the benchmark, not a sample of tasks."""
    if not all(len(group) for group in groups):
        return None
    total = sum(map(len, groups))
    shares = [group * weight * total / len(group) for group, weight in zip(groups, _weights(groups, each), strict=True)]
    return bootstrap.difference(list(np.concatenate(shares)), within=(-100.0, 100.0), strata=[len(group) for group in groups])


def told(points: Mapping[int, Sequence[Line]]) -> str:
    """The lines as text, point after point."""
    blocks = []
    for point, lines in points.items():
        title = "before learning" if point == 0 else f"after stage {point}"
        head = f"{title:<28} {'questions':>9} {'plain':>7} {'experience':>11}  {'experience - plain':<24} plain - before learning"
        blocks.append("\n".join([head, *map(_told, lines)]))
    return "\n\n".join(blocks)


def _told(line: Line) -> str:
    plain, experience = ("–" if score is None else f"{score:.1f}" for score in (line.plain, line.experience))
    shown, learned = ("–" if found is None else found.text(signed=True) for found in (line.shown, line.learned))
    return f"{line.name:<28} {line.questions:>9} {plain:>7} {experience:>11}  {shown:<24} {learned}"
