"""Differences on the same tasks: what two conditions differ by, task difficulty cancelled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from xplearn.metrics.bootstrap import Bootstrap, Interval
from xplearn.metrics.scores import evaluated
from xplearn.types import EpisodeResult

Pairing = tuple[str, str, str]
"""(domain, task, replica): what the two episodes of a pair have in common."""


def scores_by_pairing(results: Iterable[EpisodeResult]) -> dict[Pairing, float]:
    """Score of each (domain, task, replica), in the order of the keys: an interval must not depend on who finished first."""
    scores = {}
    for result in results:
        _, domain = evaluated(result.phase) or (0, result.env)
        scores[domain, result.task, result.id.rpartition("/")[2]] = result.score
    return dict(sorted(scores.items()))


def task_means(values: Mapping[Pairing, float]) -> list[float]:
    """One mean per task over its replicas."""
    by_task: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (domain, task, _), value in values.items():
        by_task[domain, task].append(value)
    return [sum(found) / len(found) for found in by_task.values()]


def strata(values: Mapping[Pairing, float]) -> list[int]:
    """How many tasks each domain has."""
    return list(Counter(domain for domain, _ in dict.fromkeys((domain, task) for domain, task, _ in values)).values())


def paired_difference(results: Iterable[EpisodeResult], base: Iterable[EpisodeResult], bootstrap: Bootstrap) -> Interval | None:
    """Mean of ``results - base`` over the episodes both have, with its interval over tasks; None without a common one."""
    ours, theirs = scores_by_pairing(results), scores_by_pairing(base)
    differences = {key: score - theirs[key] for key, score in ours.items() if key in theirs}
    return bootstrap.difference(task_means(differences), within=(-1.0, 1.0), strata=strata(differences)) if differences else None
