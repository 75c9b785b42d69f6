"""Bootstrap intervals over tasks, keyed: the same figures give the same interval everywhere.

Percentiles of resampled means are too near to one another when tasks are few, for two reasons: resampling spreads like ``n`` where an
unbiased variance spreads like ``n - 1``, and what is normal with many tasks is Student's with few. Both are put right by stretching the
percentiles from their middle. Source: Hesterberg, What Teachers Should Know about the Bootstrap (2015), "narrowness bias" and "expanded
percentile interval"; stretching instead of moving the percentiles' level is [OURS]: a level cannot leave the resampled values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xplearn.metrics import student
from xplearn.seeding import derive

Array = np.ndarray[Any, np.dtype[np.float64]]

Range = tuple[float, float]
"""Least and largest value that a figure can have."""

ANY: Range = (-math.inf, math.inf)

_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with its bootstrap interval."""

    mean: float
    low: float | None
    """None with fewer than two tasks: nothing is known about the spread."""
    high: float | None

    def text(self, *, signed: bool = False) -> str:
        """Mean and bounds, e.g. ``41.2 [35.0, 47.9]``."""
        form = "{:+z.1f}" if signed else "{:z.1f}"
        mean = form.format(self.mean)
        if self.low is None or self.high is None:
            return mean
        return f"{mean} [{form.format(self.low)}, {form.format(self.high)}]"

    def scaled(self, factor: float) -> Interval:
        """The same in another unit."""
        low, high = (None if bound is None else bound * factor for bound in (self.low, self.high))
        return Interval(mean=self.mean * factor, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """How intervals are drawn. Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13."""

    confidence: float = 0.95
    """Mass of the interval, in (0, 1)."""
    resamples: int = 2000
    seed: int = 0

    def mean(self, values: Sequence[float], *, within: Range = ANY) -> Interval:
        """Mean and interval of one value per task (average a task's replicas first: they are not independent).

        Args:
            values: one per task.
            within: what such a mean can be, e.g. ``(0, 1)`` for scores.
        """
        data = np.asarray(values, dtype=np.float64)
        if data.size == 0:
            raise ValueError("an interval needs at least one value")
        if data.size == 1:
            return Interval(mean=float(data[0]), low=None, high=None)
        return self.interval(float(data.mean()), self.means([data])[0], tasks=[data.size], within=within)

    def means(self, groups: Sequence[Array]) -> list[Array]:
        """Means over resampled tasks, each group drawn by itself; groups of the same sizes are drawn alike, so that figures can be paired.

        Args:
            groups: each one value per task ``[N]``, or several, ``[N, K]``, that stay together.

        Returns:
            For each group ``[resamples]`` or ``[resamples, K]``.
        """
        rng = np.random.Generator(np.random.PCG64(derive(self.seed, "bootstrap")))
        return [_resampled_means(group, self.resamples, rng) for group in groups]

    def interval(self, value: float, resampled: Array, *, tasks: Sequence[int], within: Range = ANY) -> Interval:
        """A figure over tasks with its interval.

        Args:
            value: the figure.
            resampled: the same on resampled tasks, ``[resamples]``.
            tasks: how many there are in each group that was drawn by itself; more than one in at least one of them.
            within: what the figure can be.
        """
        return self.around(value, resampled, widening(sum(tasks), len(tasks), self.confidence), within)

    def around(self, value: float, resampled: Array, factor: float, within: Range = ANY) -> Interval:
        """A figure with the percentiles of its resampled values ``[resamples]``, ``stretched`` but not beyond what it can be."""
        low, high = self.stretched(resampled, factor)
        least, most = min(within[0], resampled.min()), max(within[1], resampled.max())
        return Interval(mean=value, low=float(max(low, least)), high=float(min(high, most)))

    def stretched(self, resampled: Array, factor: float) -> Array:
        """The percentiles that hold ``confidence`` of ``[resamples, ...]``, ``factor`` times as far from the mean: ``[2, ...]``."""
        tail = (1.0 - self.confidence) / 2.0
        middle = resampled.mean(axis=0)
        bounds: Array = middle + factor * (np.quantile(resampled, [tail, 1.0 - tail], axis=0) - middle)
        return bounds


def widening(tasks: int, groups: int, confidence: float) -> float:
    """Student's quantile with ``n - g`` degrees of freedom over the normal one, times ``sqrt(n / (n - g))``, for n tasks in g groups."""
    freedom = tasks - groups
    level = (1.0 + confidence) / 2.0
    return student.quantile(level, freedom) / student.normal(level) * math.sqrt(tasks / freedom)


def _resampled_means(data: Array, resamples: int, rng: np.random.Generator) -> Array:
    found = np.empty((resamples, *data.shape[1:]))
    rows = max(1, _CHUNK // data.size)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        found[start : start + count] = data[rng.integers(0, len(data), (count, len(data)))].mean(axis=1)
    return found
