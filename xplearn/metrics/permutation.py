"""Paired permutation test: are two conditions alike on the tasks that both played?

Were they alike, each task's difference might as well have the other sign. Source: Fisher, The Design of Experiments (1935), section 21;
scipy's ``permutation_test`` with ``permutation_type="samples"``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from xplearn.metrics.bootstrap import Array
from xplearn.metrics.sound import numbers
from xplearn.seeding import derive

EXACT = 14
"""Tasks with a difference up to which every one of the ``2 ** n`` signs is looked at."""

DRAWN = 9999
"""Signs that are drawn where there are more."""

ROUNDING = 1e-9
"""Differences, in points, that are none."""

_Signs = np.ndarray[Any, np.dtype[np.int8]]

_TIE = 1e-9
_CHUNK = 4_000_000


def sign_flip(differences: Array, *, seed: int = 0) -> float:
    """Two-sided p of the mean of one difference per task ``[N]``, never 0.

    Exact for up to ``EXACT`` tasks that differ; beyond, ``(b + 1) / (m + 1)`` with b of m drawn signs at least as extreme. Source of the
    latter: Phipson and Smyth, Permutation p-values should never be zero (2010).

    Args:
        differences: replicas and seeds of a task averaged first.
        seed: of the draw, which is the same for panels of the same size.

    Raises:
        ConfigError: a difference is not finite.
    """
    if not np.size(differences):
        return 1.0
    differences = numbers(differences, "differences")
    found = np.where(np.abs(differences) > ROUNDING, differences, 0.0)
    moved = found[found != 0.0]
    if not moved.size:
        return 1.0
    extreme = abs(moved.sum()) - _TIE * np.abs(moved).sum()
    if moved.size <= EXACT:
        return float(np.mean(np.abs(moved[0] + _sums(_all_signs(moved.size - 1), moved[1:])) >= extreme))
    reached = np.abs(_sums(_drawn_signs(found.size, seed), found)) >= extreme
    return (int(reached.sum()) + 1) / (DRAWN + 1)


def _sums(signs: _Signs, differences: Array) -> Array:
    rows = max(1, _CHUNK // max(1, differences.size))
    return np.concatenate([signs[start : start + rows].astype(np.float64) @ differences for start in range(0, len(signs), rows)])


@lru_cache(maxsize=EXACT)
def _all_signs(size: int) -> _Signs:
    """Every row of signs, ``[2 ** size, size]``; the first task's needs no flip, as a sum and its negative are equally extreme."""
    bits = np.arange(2**size)[:, None] >> np.arange(size)
    return (2 * (bits & 1) - 1).astype(np.int8)


@lru_cache(maxsize=2)
def _drawn_signs(size: int, seed: int) -> _Signs:
    rng = np.random.Generator(np.random.PCG64(derive(seed, "permutation", size)))
    return 2 * rng.integers(0, 2, (DRAWN, size), dtype=np.int8) - np.int8(1)
