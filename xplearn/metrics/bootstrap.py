"""Percentile bootstrap of a mean over tasks, keyed: the same figures give the same interval everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xplearn.seeding import derive

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
        means = _resampled_means(data, self.resamples, np.random.Generator(np.random.PCG64(derive(self.seed, "bootstrap"))))
        tail = (1.0 - self.confidence) / 2.0
        low, high = np.quantile(means, [tail, 1.0 - tail])
        return Interval(mean=float(data.mean()), low=float(low), high=float(high))


def _resampled_means(data: np.ndarray[tuple[int], np.dtype[np.float64]], resamples: int, rng: np.random.Generator) -> list[float]:
    means: list[float] = []
    rows = max(1, _CHUNK // data.size)
    while len(means) < resamples:
        count = min(rows, resamples - len(means))
        means += data[rng.integers(0, data.size, (count, data.size))].mean(axis=1).tolist()
    return means
