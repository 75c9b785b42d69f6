"""A paired difference with all that is told of it, and several of them as one family of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xplearn.metrics.board import Difference
from xplearn.metrics.crossed import Estimator, Grid
from xplearn.metrics.multiple import holm
from xplearn.metrics.permutation import sign_flip
from xplearn.metrics.power import better, worse


def difference(grid: Grid, estimator: Estimator) -> Difference:
    """Of a matrix of paired differences, not yet corrected: its ``p_holm`` is its ``p``."""
    by_task = grid.by_task
    p = sign_flip(by_task, seed=estimator.bootstrap.seed)
    return Difference(interval=estimator.difference(grid), p=p, p_holm=p, better=better(by_task), worse=worse(by_task), tasks=by_task.size)


def corrected(family: Sequence[Difference | None]) -> list[Difference | None]:
    """The same with Holm's correction for all that are there."""
    ps = iter(holm([found.p for found in family if found]))
    return [replace(found, p_holm=next(ps)) if found else None for found in family]
