"""Percentile bootstrap of a mean over tasks, keyed: the same figures give the same interval everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xplearn.seeding import derive

Array = np.ndarray[Any, np.dtype[np.float64]]

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
        form = "{:+.1f}" if signed else "{:.1f}"
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

    def mean(self, values: Sequence[float]) -> Interval:
        """Mean and percentile interval of one value per task (average a task's replicas first: they are not independent)."""
        data = np.asarray(values, dtype=np.float64)
        if data.size == 0:
            raise ValueError("an interval needs at least one value")
        if data.size == 1:
            return Interval(mean=float(data[0]), low=None, high=None)
        return self.interval(float(data.mean()), self.means([data])[0])

    def means(self, groups: Sequence[Array]) -> list[Array]:
        """Means over resampled tasks, each group drawn by itself; groups of the same sizes are drawn alike, so that figures can be paired.

        Args:
            groups: each one value per task ``[N]``, or several, ``[N, K]``, that stay together.

        Returns:
            For each group ``[resamples]`` or ``[resamples, K]``.
        """
        rng = np.random.Generator(np.random.PCG64(derive(self.seed, "bootstrap")))
        return [_resampled_means(group, self.resamples, rng) for group in groups]

    def interval(self, value: float, resampled: Array) -> Interval:
        """A figure with the interval that holds ``confidence`` of its resampled values ``[resamples]``."""
        tail = (1.0 - self.confidence) / 2.0
        low, high = np.quantile(resampled, [tail, 1.0 - tail])
        return Interval(mean=value, low=float(low), high=float(high))


def _resampled_means(data: Array, resamples: int, rng: np.random.Generator) -> Array:
    found = np.empty((resamples, *data.shape[1:]))
    rows = max(1, _CHUNK // data.size)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        found[start : start + count] = data[rng.integers(0, len(data), (count, len(data)))].mean(axis=1)
    return found
