"""From contenders to a leaderboard.

Scores of several seeds are a matrix ``[seeds, tasks]``; domains count alike in means and differences, as in ``continual.final``. Intervals
speak of other tasks, and of other seeds where a contender has several. Tests speak of other tasks, for the seeds that were run: no test can
tell a handful of seeds apart. Each kind of test is one family for Holm's correction: all differences to Base, all to the plain arm, all to
the best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xplearn.errors import ConfigError
from xplearn.metrics.board import Board, Contender, Difference, Standing, TaskScores
from xplearn.metrics.bootstrap import Array, Bootstrap
from xplearn.metrics.components import components
from xplearn.metrics.crossed import Estimator, Grid, grids, paired
from xplearn.metrics.differences import corrected, difference
from xplearn.metrics.permutation import ROUNDING
from xplearn.metrics.power import detectable

THRESHOLDS: Array = np.linspace(0.0, 100.0, 101)
"""Of the performance profiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A difference, and what the panel could have found of it."""

    difference: Difference
    detectable: float | None


def leaderboard(contenders: Sequence[Contender], *, title: str, environments: Mapping[str, str], bootstrap: Bootstrap) -> Board:
    """Contenders ranked by their mean, each beside Base, its own plain arm, and the best.

    Args:
        contenders: of the same domains; a mean is over the tasks that all seeds of a contender played, a difference over those, and the
            seeds, that both have.
        title: what was evaluated.
        environments: version by domain.
        bootstrap: how intervals are drawn, and at which confidence differences count.

    Raises:
        ConfigError: there is no contender, two have one name, one has no task that all its seeds played or lacks a domain, or a score is
            not finite.
    """
    _require_sound(contenders)
    estimator = Estimator(bootstrap)
    scored = {contender.name: grids(contender.scores)[0] for contender in contenders}
    ranked = sorted(contenders, key=lambda contender: (-round(scored[contender.name].mean, 9), contender.name))
    best = ranked[0]
    to_base = [_difference(one.scores, one.base, estimator) for one in ranked]
    to_plain = [_difference(one.scores, one.plain, estimator) for one in ranked]
    to_best = [None if one is best else _difference(one.scores, best.scores, estimator) for one in ranked]
    known = [found.detectable for found in (*to_base, *to_plain, *to_best) if found and found.detectable is not None]
    families = [corrected([found.difference if found else None for found in family]) for family in (to_base, to_plain, to_best)]
    standings = [
        _standing(one, scored[one.name], estimator, against) for one, against in zip(ranked, zip(*families, strict=True), strict=True)
    ]
    return Board(
        title=title,
        panel=dict(Counter(domain for domain, _ in sorted({task for one in ranked for row in one.scores.values() for task in row}))),
        environments=dict(environments),
        standings=tuple(standings),
        thresholds=THRESHOLDS,
        detectable=float(np.median(known)) if known else None,
        confidence=bootstrap.confidence,
    )


def _require_sound(contenders: Sequence[Contender]) -> None:
    if not contenders:
        raise ConfigError("contenders", "there is none; a leaderboard needs at least one")
    name, count = Counter(one.name for one in contenders).most_common(1)[0]
    if count > 1:
        raise ConfigError("contenders", f"{count} are called '{name}'; give each a name of its own")
    for one in contenders:
        for side in (one.scores, one.base, one.plain):
            wrong = [(seed, task) for seed, row in side.items() for task, score in row.items() if not math.isfinite(score)]
            if wrong:
                raise ConfigError(one.name, f"has a score that is not finite, with seed {wrong[0][0]} in task {'/'.join(wrong[0][1])}")
        if not one.scores or not set.intersection(*(set(row) for row in one.scores.values())):
            raise ConfigError(one.name, "has no task that all its seeds played; leave it out, or the seeds that are not finished")
    domains = {one.name: {domain for row in one.scores.values() for domain, _ in row} for one in contenders}
    everything = set.union(*domains.values())
    for name, found in domains.items():
        if found != everything:
            raise ConfigError(
                name, f"was not evaluated on {', '.join(sorted(everything - found))}, as others were; put it on another board"
            )


def _standing(contender: Contender, grid: Grid, estimator: Estimator, against: tuple[Difference | None, ...]) -> Standing:
    base, plain, best = against
    estimates = estimator.scores(grid, THRESHOLDS)
    return Standing(
        contender=contender,
        mean=estimates.mean,
        iqm=estimates.iqm,
        versus_base=base,
        versus_plain=plain,
        versus_best=best,
        tied=best is None or best.p_holm >= estimator.bootstrap.level,
        profile=estimates.profile,
        band=estimates.band,
    )


def _difference(ours: Mapping[int, TaskScores], theirs: Mapping[int, TaskScores], estimator: Estimator) -> _Found | None:
    """Paired, not yet corrected; None without a common seed and task."""
    grid = paired(ours, theirs)
    return None if grid is None else _Found(difference=difference(grid, estimator), detectable=_detectable(grid, estimator))


def _detectable(grid: Grid, estimator: Estimator) -> float | None:
    parts = components(grid.values, grid.strata)
    if parts is None or parts.tasks <= ROUNDING**2:
        return None
    return detectable(math.sqrt(parts.tasks), parts.task_freedom, alpha=estimator.bootstrap.level)
