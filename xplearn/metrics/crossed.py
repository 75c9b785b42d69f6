"""Figures over seeds and tasks with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from xplearn.metrics.aggregate import draw, iqm, profile
from xplearn.metrics.board import TaskScores
from xplearn.metrics.bootstrap import Array, Bootstrap, Interval, Range, even
from xplearn.metrics.components import components, weights
from xplearn.metrics.retention import kept
from xplearn.metrics.sound import numbers
from xplearn.metrics.student import normal

SCORES: Range = (0.0, 100.0)
DIFFERENCES: Range = (-100.0, 100.0)


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
    """Scores by seed as matrices of the seeds and tasks that all of them have; none where there is no common one.

    Raises:
        ConfigError: a score is not finite.
    """
    seeds = sorted(set.intersection(*(set(side) for side in sides)))
    rows = [[side[seed] for seed in seeds] for side in sides]
    tasks = sorted(set.intersection(*(set(row) for side in rows for row in side))) if seeds else []
    if not tasks:
        return []
    strata = tuple(Counter(domain for domain, _ in tasks).values())
    return [Grid(values=numbers([[row[task] for task in tasks] for row in side], "scores", axes=2), strata=strata) for side in rows]


def paired(ours: Mapping[int, TaskScores], theirs: Mapping[int, TaskScores]) -> Grid | None:
    """Differences on the seeds and tasks that both sides have; None without a common one."""
    sides = grids(ours, theirs)
    return Grid(values=sides[0].values - sides[1].values, strata=sides[0].strata) if sides else None


class Estimator:
    """Draws resamples once for all grids of one shape."""

    def __init__(self, bootstrap: Bootstrap) -> None:
        self.bootstrap = bootstrap
        self._draw = lru_cache(maxsize=8)(partial(draw, bootstrap))

    def difference(self, grid: Grid) -> Interval:
        """Of paired differences, over tasks, and over seeds where there are several; no bounds where a domain has a single task."""
        parts = components(grid.values, grid.strata)
        return even(grid.mean, None if parts is None else parts.half(self.bootstrap.confidence), DIFFERENCES)

    def mean(self, grid: Grid) -> Interval:
        """The same of scores."""
        parts = components(grid.values, grid.strata)
        if parts is None:
            return even(grid.mean, None)
        return self.bootstrap.shaped(grid.mean, self._means(grid), parts.half(self.bootstrap.confidence), SCORES)

    def retention(self, plain: Grid, shown: Grid) -> Interval | None:
        """``metrics.retention`` of two arms' scores, over tasks, a task's seeds averaged first; domains count alike, as in both scores."""
        pairs = np.column_stack([plain.values.mean(axis=0), shown.values.mean(axis=0)])
        domains = np.split(pairs, np.cumsum(plain.strata)[:-1])
        return kept(domains, [1.0 / len(domains)] * len(domains), self.bootstrap)

    def scores(self, grid: Grid, thresholds: Array) -> Estimates:
        """Everything that a leaderboard tells of one contender."""
        middle, shares = iqm(grid.values), profile(grid.values, thresholds)
        parts = components(grid.values, grid.strata)
        if parts is None:
            return Estimates(mean=even(grid.mean, None), iqm=even(middle, None), profile=shares, band=None)
        half, spread = parts.half(self.bootstrap.confidence), float(self._means(grid).std())
        per_deviation = half / spread if spread > 1e-9 else 0.0
        counted = self._draw(len(grid.values), grid.strata).counted(grid.values)
        iqms = counted.iqms()
        stretch = per_deviation / normal((1.0 + self.bootstrap.confidence) / 2.0)
        low, high = np.clip(self.bootstrap.stretched(counted.profiles(thresholds), stretch), 0.0, 1.0)
        return Estimates(
            mean=self.mean(grid),
            iqm=self.bootstrap.shaped(middle, iqms, per_deviation * float(iqms.std()), SCORES),
            profile=shares,
            band=(low, high),
        )

    def _means(self, grid: Grid) -> Array:
        return self._draw(len(grid.values), grid.strata).means(grid.values, weights(grid.strata))
