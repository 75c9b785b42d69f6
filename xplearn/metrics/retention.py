"""Scaffold retention: what stays of a score when the bank is taken away from the very same policy, in percent.

``100 x score without the bank / score with it``, both of the same evaluation point and paired on the same tasks and replicas. Below 100 the
policy leans on its bank; 100 or more says that it has outgrown it, or that experience hurts. The paper that names it does not say which of
its two numbers is the numerator: ours is the one without. Source: EDGE, for any method [OURS].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from xplearn.metrics.bootstrap import Array, Bootstrap, Interval
from xplearn.metrics.paired import Pairing, scores_by_pairing, task_means
from xplearn.types import EpisodeResult


def retention(plain: Sequence[float], experience: Sequence[float], bootstrap: Bootstrap) -> Interval | None:
    """Of one mean score per task ``[N]`` in each arm, the same tasks in the same order, which are resampled together.

    None where the score with the bank is not above 0; no bounds where that cannot be told from 0 (see ``kept``).
    """
    pairs = np.column_stack([np.asarray(plain, dtype=np.float64), np.asarray(experience, dtype=np.float64)])
    if not len(pairs):
        return None
    without, shown = pairs.mean(axis=0)
    resampled = bootstrap.means([pairs])[0] if len(pairs) > 1 else None
    return kept(float(without), float(shown), resampled, bootstrap, tasks=[len(pairs)])


def retention_by_task(plain: Mapping[str, float], experience: Mapping[str, float], bootstrap: Bootstrap) -> Interval | None:
    """Of the mean score of each task, over the tasks that both arms played."""
    common = [task for task in plain if task in experience]
    return retention([plain[task] for task in common], [experience[task] for task in common], bootstrap)


def paired_retention(plain: Iterable[EpisodeResult], experience: Iterable[EpisodeResult], bootstrap: Bootstrap) -> Interval | None:
    """Of episodes, over the (task, replica) that both arms played; one that died scores 0."""
    without, shown = scores_by_pairing(plain), scores_by_pairing(experience)
    return retention(_common(without, shown), _common(shown, without), bootstrap)


def kept(plain: float, experience: float, resampled: Array | None, bootstrap: Bootstrap, *, tasks: Sequence[int]) -> Interval | None:
    """The ratio of two scores in percent, with its interval.

    A resample whose score with the bank is not above 0 has no ratio. Where such are too many to lie outside the interval, the score
    with the bank cannot be told from 0 and the ratio has no upper bound: no bounds are given. Fewer count as the largest of the others.

    Args:
        plain: score without the bank.
        experience: score with it.
        resampled: both on resampled tasks, ``[resamples, 2]``; None where nothing is known about the spread.
        bootstrap: how they were drawn.
        tasks: how many there are in each group that was drawn by itself.
    """
    if not experience > 0:
        return None
    value = 100.0 * plain / experience
    if resampled is None:
        return Interval(mean=value, low=None, high=None)
    defined = resampled[:, 1] > 0
    if np.mean(~defined) >= (1.0 - bootstrap.confidence) / 2.0:
        return Interval(mean=value, low=None, high=None)
    ratios = np.full(len(resampled), np.nan)
    np.divide(100.0 * resampled[:, 0], resampled[:, 1], out=ratios, where=defined)
    return bootstrap.interval(value, np.where(defined, ratios, np.nanmax(ratios)), tasks=tasks, within=(0.0, math.inf))


def _common(scores: Mapping[Pairing, float], others: Mapping[Pairing, float]) -> list[float]:
    return task_means({key: score for key, score in scores.items() if key in others})
