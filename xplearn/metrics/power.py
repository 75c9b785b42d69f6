"""What a panel can find, and what a condition spoils."""

from __future__ import annotations

import numpy as np

from xplearn.errors import ConfigError
from xplearn.metrics import student
from xplearn.metrics.bootstrap import Array
from xplearn.metrics.permutation import ROUNDING

POWER = 0.8
"""How often a difference that is there is to be found."""


def detectable(error: float, freedom: float, *, alpha: float = 0.05, power: float = POWER) -> float:
    """Smallest paired difference that a two-sided test finds with this power, in the unit of the error.

    ``(t(1 - alpha / 2) + t(power)) * error``: the usual approximation of the noncentral t distribution by a shifted one.

    Args:
        error: standard error of the mean difference over tasks.
        freedom: its degrees of freedom: tasks minus 1 in one domain.
        alpha: of the test.
        power: of the test.

    Raises:
        ConfigError: a number is out of its range: a single task, for one, has no degree of freedom.
    """
    if not (error >= 0.0 and freedom >= 1.0 and 0.0 < alpha < 1.0 and 0.0 < power < 1.0):
        raise ConfigError(
            "detectable",
            f"has error {error}, {freedom} degrees of freedom, alpha {alpha} and power {power};"
            " want an error of 0 or more, at least 1 degree of freedom, shares between 0 and 1",
        )
    return (student.quantile(1.0 - alpha / 2.0, freedom) + student.quantile(power, freedom)) * error


def better(differences: Array) -> int:
    """On how many tasks one condition lies above the other, of one difference per task ``[N]``."""
    return int((differences > ROUNDING).sum())


def worse(differences: Array) -> int:
    """On how many tasks it lies below: negative transfer where the other is Base."""
    return better(-np.asarray(differences))
