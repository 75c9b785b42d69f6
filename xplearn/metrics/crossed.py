"""Figures over seeds and tasks with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from xplearn.metrics.aggregate import draw, iqm, profile
from xplearn.metrics.board import TaskScores
from xplearn.metrics.bootstrap import ANY, Array, Bootstrap, Interval, Range
from xplearn.metrics.components import components, weights
from xplearn.metrics.student import normal

SCORES: Range = (0.0, 100.0)


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Scores of seeds on tasks."""

    values: Array
    """``[S, T]``, tasks in the order of their domains."""
    strata: tuple[int, ...]
    """Tasks of each domain."""

    @property
    def mean(self) -> float:
        """Domains count alike."""
        return float(self.by_task.sum())

    @property
    def by_task(self) -> Array:
        """Each task's share of the mean, ``[T]``."""
        found: Array = self.values.mean(axis=0) * weights(self.strata)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """What is told of scores."""

    mean: Interval
    iqm: Interval
    profile: Array
    """``[thresholds]``"""
    band: tuple[Array, Array] | None
    """Its bounds."""


def grids(*sides: Mapping[int, TaskScores]) -> list[Grid]:
    """Scores by seed as matrices of the seeds and tasks that all of them have; none where there is no common one."""
    seeds = sorted(set.intersection(*(set(side) for side in sides)))
    rows = [[side[seed] for seed in seeds] for side in sides]
    tasks = sorted(set.intersection(*(set(row) for side in rows for row in side))) if seeds else []
    if not tasks:
        return []
    strata = tuple(Counter(domain for domain, _ in tasks).values())
    return [Grid(values=np.array([[row[task] for task in tasks] for row in side]), strata=strata) for side in rows]


class Estimator:
    """Draws resamples once for all grids of one shape, so that figures of the same panel are paired."""

    def __init__(self, bootstrap: Bootstrap) -> None:
        self.bootstrap = bootstrap
        self._draw = lru_cache(maxsize=8)(partial(draw, bootstrap))

    def mean(self, grid: Grid, within: Range = ANY) -> Interval:
        """Over tasks, and over seeds where there are several; no bounds where a domain has a single task."""
        resampled, factor = self._resampled(grid)
        return self._around(grid.mean, resampled, factor, within)

    def scores(self, grid: Grid, thresholds: Array) -> Estimates:
        """Everything that a leaderboard tells of one contender."""
        resampled, factor = self._resampled(grid)
        counted = self._draw(len(grid.values), grid.strata).counted(grid.values)
        band = None
        if factor is not None:
            low, high = np.clip(self.bootstrap.stretched(counted.profiles(thresholds), factor), 0.0, 1.0)
            band = low, high
        return Estimates(
            mean=self._around(grid.mean, resampled, factor, SCORES),
            iqm=self._around(iqm(grid.values), counted.iqms(), factor, SCORES),
            profile=profile(grid.values, thresholds),
            band=band,
        )

    def _around(self, value: float, resampled: Array, factor: float | None, within: Range) -> Interval:
        if factor is None:
            return Interval(mean=value, low=None, high=None)
        return self.bootstrap.around(value, resampled, factor, within)

    def _resampled(self, grid: Grid) -> tuple[Array, float | None]:
        """The mean on resamples, and how many times as far as they say its bounds lie; None where nothing is known about the spread."""
        resampled = self._draw(len(grid.values), grid.strata).means(grid.values, weights(grid.strata))
        parts = components(grid.values, grid.strata)
        if parts is None:
            return resampled, None
        error = normal((1.0 + self.bootstrap.confidence) / 2.0) * float(resampled.std())
        return resampled, parts.half(self.bootstrap.confidence) / error if error > 1e-9 else 1.0
