"""Scaffold retention: what stays of a score when the bank is taken away from the very same policy, in percent.

``100 x score without the bank / score with it``, both of the same evaluation point and paired on the same tasks and replicas. Below 100 the
policy leans on its bank; 100 or more says that it has outgrown it, or that experience hurts. The paper that names it does not say which of
its two numbers is the numerator: ours is the one without. Source: EDGE, for any method [OURS].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from xplearn.errors import ConfigError
from xplearn.metrics import student
from xplearn.metrics.bootstrap import Array, Bootstrap, Interval, even
from xplearn.metrics.paired import Pairing, scores_by_pairing, strata, task_means
from xplearn.metrics.sound import numbers
from xplearn.types import EpisodeResult

_ROUNDING = 1e-12


def retention(plain: Sequence[float], experience: Sequence[float], bootstrap: Bootstrap, *, domains: Sequence[int] = ()) -> Interval | None:
    """Of one mean score per task ``[N]`` in each arm, the same tasks in the same order.

    None where the score with the bank is not above 0; no bounds where that cannot be told from 0 (see ``kept``).

    Args:
        plain: without the bank.
        experience: with it.
        bootstrap: at which confidence.
        domains: tasks of each, in the order of the values; each task counts alike.

    Raises:
        ConfigError: a score is not finite, or the arms are not of the same tasks.
    """
    if not len(plain) and not len(experience):
        return None
    sides = [numbers(scores, name) for scores, name in ((plain, "plain"), (experience, "experience"))]
    if len(sides[0]) != len(sides[1]):
        raise ConfigError("experience", f"is of {len(sides[1])} tasks, plain of {len(sides[0])}; want the same tasks in the same order")
    pairs = np.column_stack(sides)
    blocks = np.split(pairs, np.cumsum(domains)[:-1]) if domains else [pairs]
    return kept(blocks, [len(block) / len(pairs) for block in blocks], bootstrap)


def retention_by_task(plain: Mapping[str, float], experience: Mapping[str, float], bootstrap: Bootstrap) -> Interval | None:
    """Of the mean score of each task, over the tasks that both arms played."""
    common = [task for task in plain if task in experience]
    return retention([plain[task] for task in common], [experience[task] for task in common], bootstrap)


def paired_retention(plain: Iterable[EpisodeResult], experience: Iterable[EpisodeResult], bootstrap: Bootstrap) -> Interval | None:
    """Of episodes, over the (task, replica) that both arms played; one that died scores 0."""
    without, shown = scores_by_pairing(plain), scores_by_pairing(experience)
    ours, theirs = _common(without, shown), _common(shown, without)
    return retention(task_means(ours), task_means(theirs), bootstrap, domains=strata(ours))


def kept(pairs: Sequence[Array], shares: Sequence[float], bootstrap: Bootstrap) -> Interval | None:
    """The ratio of two scores in percent, with its interval: all ratios r for which ``plain - r * experience`` cannot be told from 0.

    Where the score with the bank cannot be told from 0 either, the ratio has no upper bound: no bounds are given, and none where a domain
    has a single task. The same ratio on every task has an interval of no width. Source: Fieller, Some Problems in Interval Estimation
    (1954); percentiles of resampled ratios hold the truth less often.

    Args:
        pairs: of each domain one score per task without the bank and one with it, ``[N, 2]``.
        shares: of each domain in both scores, summing to 1.
        bootstrap: at which confidence.
    """
    without, shown = (float(sum(share * block[:, arm].mean() for share, block in zip(shares, pairs, strict=True))) for arm in (0, 1))
    if not shown > 0:
        return None
    ratio = without / shown
    spread = student.of_strata([block[:, 0] - ratio * block[:, 1] for block in pairs], shares)
    if spread is None or spread[0] <= (_ROUNDING * shown) ** 2:
        return even(100.0 * ratio, None if spread is None else 0.0)
    errors = np.sum([share**2 * np.cov(block.T) / len(block) for share, block in zip(shares, pairs, strict=True)], axis=0)
    square = student.quantile((1.0 + bootstrap.confidence) / 2.0, spread[1]) ** 2
    first, middle, last = np.outer([without, shown], [without, shown])[[0, 0, 1], [0, 1, 1]] - square * errors[[0, 0, 1], [0, 1, 1]]
    if last <= 0:
        return even(100.0 * ratio, None)
    half = math.sqrt(max(middle**2 - first * last, 0.0))
    low, high = (middle - half) / last, (middle + half) / last
    return Interval(mean=100.0 * ratio, low=100.0 * float(max(0.0, min(low, ratio))), high=100.0 * float(max(high, ratio)))


def _common(scores: Mapping[Pairing, float], others: Mapping[Pairing, float]) -> dict[Pairing, float]:
    return {key: score for key, score in scores.items() if key in others}
