"""Intervals over tasks, keyed: the same figures give the same interval everywhere.

Percentiles of resampled means are too near to one another when tasks are few, for three reasons: resampling spreads like ``n`` where an
unbiased variance spreads like ``n - 1``; what is normal with many tasks is Student's with few; and means of a few successes are steps, of
which a percentile takes the inner one. So the resamples say only how a mean's bounds lie about it, and Student how far apart they are. A
difference has them equally far from it: "t interval with bootstrap standard error", which of a mean is known without drawing. Source:
Hesterberg, What Teachers Should Know about the Bootstrap (2015), "narrowness bias" and "expanded percentile interval"; stretching the
percentiles from their middle instead of moving their level is [OURS]: a level cannot leave the resampled values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xplearn.errors import ConfigError
from xplearn.metrics import student
from xplearn.metrics.digits import tenths
from xplearn.metrics.sound import numbers
from xplearn.seeding import derive

Array = np.ndarray[Any, np.dtype[np.float64]]

Range = tuple[float, float]
"""Least and largest value that a figure can have."""

ANY: Range = (-math.inf, math.inf)

_CHUNK = 4_000_000
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with its bootstrap interval."""

    mean: float
    low: float | None
    """None with fewer than two tasks: nothing is known about the spread."""
    high: float | None

    def text(self, *, signed: bool = False) -> str:
        """Mean and bounds, e.g. ``41.2 [35.0, 47.9]``."""
        mean = tenths(self.mean, signed=signed)
        if self.low is None or self.high is None:
            return mean
        return f"{mean} [{tenths(self.low, signed=signed)}, {tenths(self.high, signed=signed)}]"

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

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise ConfigError("confidence", f"is {self.confidence}; want a share between 0 and 1, such as 0.95")
        if self.resamples < 1:
            raise ConfigError("resamples", f"is {self.resamples}; want at least 1")

    @property
    def level(self) -> float:
        """What confidence leaves of 1, without the rounding of the subtraction."""
        return round(1.0 - self.confidence, 9)

    def mean(self, values: Sequence[float], *, within: Range = ANY, strata: Sequence[int] = ()) -> Interval:
        """Mean and interval of one score per task (average a task's replicas first: they are not independent).

        Args:
            values: one per task.
            within: what such a mean can be, e.g. ``(0, 1)`` for scores.
            strata: tasks of each domain, in the order of the values; each is drawn by itself, and a single task gives no bounds.

        Raises:
            ConfigError: there is no value, one is not finite, or the strata are not of as many.
        """
        blocks, weights = _blocks(values, strata)
        value, spread = float(np.mean(values)), student.of_strata(blocks, weights)
        if spread is None:
            return Interval(mean=value, low=None, high=None)
        resampled = np.tensordot(weights, self.means(blocks), axes=1)
        return self.shaped(value, resampled, self.half(*spread), within)

    def difference(self, values: Sequence[float], *, within: Range = ANY, strata: Sequence[int] = ()) -> Interval:
        """The same of one paired difference per task: bounds equally far from the mean."""
        blocks, weights = _blocks(values, strata)
        spread = student.of_strata(blocks, weights)
        return even(float(np.mean(values)), None if spread is None else self.half(*spread), within)

    def means(self, groups: Sequence[Array]) -> list[Array]:
        """Means over resampled tasks, each group drawn by itself; groups of the same sizes are drawn alike, so that figures can be paired.

        Args:
            groups: each one value per task ``[N]``, or several, ``[N, K]``, that stay together.

        Returns:
            For each group ``[resamples]`` or ``[resamples, K]``.
        """
        rng = np.random.Generator(np.random.PCG64(derive(self.seed, "bootstrap")))
        return [_resampled_means(group, self.resamples, rng) for group in groups]

    def around(self, value: float, resampled: Array, factor: float, within: Range = ANY) -> Interval:
        """A figure with the percentiles of its resampled values ``[resamples]``, ``stretched`` but not beyond what it can be.

        The figure lies within: that of few tasks may differ from the middle of its resamples, as an interquartile mean does.
        """
        low, high = self.stretched(resampled, factor)
        least, most = min(within[0], resampled.min()), max(within[1], resampled.max())
        return Interval(mean=value, low=float(min(max(low, least), value)), high=float(max(min(high, most), value)))

    def shaped(self, value: float, resampled: Array, half: float, within: Range = ANY) -> Interval:
        """A figure with bounds ``2 * half`` apart, which lie about it like the percentiles of its resampled values ``[resamples]``.

        Equally far where those say nothing: nearly all resamples are one value, and their mean lies beyond the percentiles.
        """
        low, high = self.stretched(resampled, 1.0)
        if not low + _ROUNDING < resampled.mean() < high - _ROUNDING:
            return even(value, half, within)
        return self.around(value, resampled, 2.0 * half / float(high - low), within)

    def half(self, variance: float, freedom: float) -> float:
        """Half the length of Student's interval."""
        return student.quantile((1.0 + self.confidence) / 2.0, freedom) * math.sqrt(variance)

    def stretched(self, resampled: Array, factor: float) -> Array:
        """The percentiles that hold ``confidence`` of ``[resamples, ...]``, ``factor`` times as far from the mean: ``[2, ...]``."""
        tail = (1.0 - self.confidence) / 2.0
        middle = resampled.mean(axis=0)
        bounds: Array = middle + factor * (np.quantile(resampled, [tail, 1.0 - tail], axis=0) - middle)
        return bounds


def even(value: float, half: float | None, within: Range = ANY) -> Interval:
    """A figure with bounds equally far from it, but not beyond what it can be; without any where nothing is known about the spread."""
    if half is None:
        return Interval(mean=value, low=None, high=None)
    return Interval(mean=value, low=max(value - half, min(within[0], value)), high=min(value + half, max(within[1], value)))


def _blocks(values: Sequence[float], strata: Sequence[int]) -> tuple[list[Array], list[float]]:
    """The values of each stratum, and what they are of all."""
    data = numbers(values, "values")
    if strata and (min(strata) < 1 or sum(strata) != data.size):
        raise ConfigError(
            "strata", f"are {list(strata)}, of {data.size} values; want at least 1 task in each, and as many as values in all"
        )
    blocks = np.split(data, np.cumsum(strata)[:-1]) if strata else [data]
    return blocks, [block.size / data.size for block in blocks]


def _resampled_means(data: Array, resamples: int, rng: np.random.Generator) -> Array:
    found = np.empty((resamples, *data.shape[1:]))
    rows = max(1, _CHUNK // data.size)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        found[start : start + count] = data[rng.integers(0, len(data), (count, len(data)))].mean(axis=1)
    return found
