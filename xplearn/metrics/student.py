"""Quantiles of Student's t distribution, and how many degrees of freedom a mean over strata has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_STEPS = 100


@lru_cache(maxsize=4096)
def quantile(level: float, freedom: float) -> float:
    """The t that a variable with ``freedom`` degrees of freedom, at least 1, stays below with probability ``level`` in (0, 1).

    With ``t = sqrt(freedom) tan(a)`` the density is proportional to ``cos(a) ** (freedom - 1)``: its integral from 0 is concave, so that
    Newton's method from 0 climbs to the answer without ever passing it.
    """
    if level < 0.5:
        return -quantile(1.0 - level, freedom)
    wanted = (level - 0.5) * _beta(freedom)
    angle = 0.0
    for _ in range(_STEPS):
        step = (wanted - _integral(angle, freedom)) / math.cos(angle) ** (freedom - 1.0)
        angle += step
        if abs(step) <= 1e-15 * angle:
            break
    return math.sqrt(freedom) * math.tan(angle)


def normal(level: float) -> float:
    """The same of the normal distribution."""
    return NormalDist().inv_cdf(level)


def of_strata(strata: Sequence[Array], weights: Sequence[float]) -> tuple[float, float] | None:
    """Squared standard error of the weighted sum of the strata's means, and its degrees of freedom.

    A stratum of few values that says much of the error leaves little freedom, however many values the others have. Source: Satterthwaite,
    An Approximate Distribution of Estimates of Variance Components (1946). None where a stratum has a single value.
    """
    if min(map(len, strata)) < 2:
        return None
    parts = [weight**2 * float(values.var(ddof=1)) / len(values) for values, weight in zip(strata, weights, strict=True)]
    total = sum(parts)
    if not total:
        return 0.0, float(sum(map(len, strata)) - len(strata))
    shares = [(part / total) ** 2 / (len(values) - 1) for part, values in zip(parts, strata, strict=True)]
    return total, 1.0 / sum(shares)


def _beta(freedom: float) -> float:
    """Integral of the density's cosine over all angles."""
    return math.sqrt(math.pi) * math.exp(math.lgamma(freedom / 2.0) - math.lgamma((freedom + 1.0) / 2.0))


def _integral(angle: float, freedom: float) -> float:
    """Of ``cos(a) ** (freedom - 1)`` from 0 to ``angle``."""
    return float(0.5 * angle * (_WEIGHTS @ np.cos(0.5 * angle * (1.0 + _NODES)) ** (freedom - 1.0)))
