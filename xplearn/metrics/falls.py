"""Intervals of what is read off the matrix R[stage, domain]: contrasts of its cells, and falls from the best of several.

A contrast is a mean of one number per task, so Student knows its interval. The best of several evaluations is not: where they are alike
it is one that chance favoured, and the best of resampled ones is favoured twice, so that percentiles tell of a fall where there is none
(on five equal stages always). So each side is asked by itself. Down: Student's bound for whichever stage, of those that may have been the
best, falls furthest. Up: how far chance alone lifts the best of all those. Source of the latter: moment selection of Andrews and Soares,
Inference for Parameters Defined by Moment Inequalities (2010), with Student's half length for what may have been the best [OURS].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xplearn.metrics import student
from xplearn.metrics.bootstrap import Array, Bootstrap, Interval, Range, even


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fall:
    """One domain."""

    gaps: Array
    """Final score of each task minus its score after each stage that may have been the best, ``[N, stages]``."""
    share: float
    """Of the figure; the shares of all domains sum to 1."""

    @property
    def lowest(self) -> int:
        """The stage that was the best."""
        return int(self.gaps.mean(axis=0).argmin())

    def halves(self, bootstrap: Bootstrap, stage: int) -> Array:
        """Half the length of Student's interval of each stage's mean gap beyond that of one of them, ``[stages]``."""
        beyond = self.gaps - self.gaps[:, [stage]]
        quantile = student.quantile((1.0 + bootstrap.confidence) / 2.0, len(beyond) - 1)
        found: Array = quantile * beyond.std(axis=0, ddof=1) / math.sqrt(len(beyond))
        return found

    def near(self, bootstrap: Bootstrap) -> Array:
        """Which stages may have been the best, ``[stages]``."""
        means = self.gaps.mean(axis=0)
        found: Array = means - means[self.lowest] <= self.halves(bootstrap, self.lowest)
        return found

    def furthest(self, bootstrap: Bootstrap) -> int:
        """The stage, of those that may have been the best, from which the score may have fallen furthest."""
        alone = student.quantile((1.0 + bootstrap.confidence) / 2.0, len(self.gaps) - 1) / math.sqrt(len(self.gaps))
        bounds = self.gaps.mean(axis=0) - alone * self.gaps.std(axis=0, ddof=1)
        return int(np.where(self.near(bootstrap), bounds, np.inf).argmin())


def contrast(blocks: Sequence[Array], bootstrap: Bootstrap, within: Range) -> Interval:
    """The sum of the domains' means of one number per task, bounds equally far from it."""
    spread = student.of_strata(blocks, [1.0] * len(blocks))
    return even(sum(float(block.mean()) for block in blocks), None if spread is None else bootstrap.half(*spread), within)


def fall(falls: Sequence[Fall], bootstrap: Bootstrap, within: Range) -> Interval:
    """What is left of the best: the sum, by share, of each domain's lowest mean gap.

    Args:
        falls: domains, whose tasks are drawn each by themselves; with a single task in one there are no bounds.
        bootstrap: how resamples are drawn.
        within: what the figure can be.
    """
    value = sum(one.share * float(one.gaps.mean(axis=0).min()) for one in falls)
    if min(len(one.gaps) for one in falls) < 2:
        return even(value, None)
    best, deepest = _from(falls, [one.lowest for one in falls]), _from(falls, [one.furthest(bootstrap) for one in falls])
    lows = [found.low for found in (contrast(best, bootstrap, within), contrast(deepest, bootstrap, within)) if found.low is not None]
    return Interval(mean=value, low=min(value, *lows), high=min(within[1], value + _lift(falls, bootstrap, deepest)))


def _from(falls: Sequence[Fall], stages: Sequence[int]) -> list[Array]:
    """What each task adds to the fall from one stage of each domain."""
    return [one.share * one.gaps[:, stage] for one, stage in zip(falls, stages, strict=True)]


def _lift(falls: Sequence[Fall], bootstrap: Bootstrap, blocks: Sequence[Array]) -> float:
    """How far chance may have lifted the best of those that may be it."""
    spread = student.of_strata(blocks, [1.0] * len(blocks))
    level = (1.0 + bootstrap.confidence) / 2.0
    ratio = student.quantile(level, spread[1]) / student.normal(level) if spread else 1.0
    lifted = np.zeros(bootstrap.resamples)
    for one, drawn in zip(falls, bootstrap.means([one.gaps for one in falls]), strict=True):
        chance = (drawn - one.gaps.mean(axis=0)) * math.sqrt(len(one.gaps) / (len(one.gaps) - 1))
        lifted += one.share * chance[:, one.near(bootstrap)].min(axis=1)
    return max(0.0, -ratio * float(np.quantile(lifted, 1.0 - level)))
