"""One figure for many runs and tasks: of scores ``[seeds, tasks]``, 0 to 100, as rliable defines them, on resampled seeds and tasks too.

Source: Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice (2021). There every task has runs of its own,
and runs are resampled task by task; here one trained policy plays all tasks, so that a seed is drawn whole: resampled rows and columns,
crossed [OURS]. Source of that: Owen, The Pigeonhole Bootstrap (2007). Scores that are none, or not finite, raise ``ConfigError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xplearn.errors import ConfigError
from xplearn.metrics.bootstrap import Array, Bootstrap
from xplearn.metrics.sound import numbers
from xplearn.seeding import derive

BEST = 100.0
"""The highest score."""


def mean(scores: Array) -> float:
    """Of all scores."""
    return float(_scores(scores).mean())


def median(scores: Array) -> float:
    """Over tasks, of the mean over seeds."""
    return float(np.median(_scores(scores).mean(axis=0)))


def iqm(scores: Array) -> float:
    """Interquartile mean: of what is left of all scores without the lowest and the highest quarter, each rounded down to whole scores."""
    ordered = np.sort(_scores(scores), axis=None)
    cut = ordered.size // 4
    return float(ordered[cut : ordered.size - cut].mean())


def optimality_gap(scores: Array, best: float = BEST) -> float:
    """How far all scores lie below the best one on average; what lies above it counts as the best."""
    return float(best - np.minimum(_scores(scores), best).mean())


def profile(scores: Array, thresholds: Array) -> Array:
    """Performance profile: the share of all scores above each threshold, ``[thresholds]``."""
    ordered = np.sort(_scores(scores), axis=None)
    found: Array = 1.0 - np.searchsorted(ordered, thresholds, side="right") / ordered.size
    return found


def improvement(ours: Array, theirs: Array) -> float:
    """Probability that a run of ours scores above one of theirs, ties half, mean over tasks: ``[seeds, tasks]`` and ``[others, tasks]``."""
    ours, theirs = _scores(ours), _scores(theirs)
    if ours.shape[1] != theirs.shape[1]:
        raise ConfigError("scores", f"are on {ours.shape[1]} and {theirs.shape[1]} tasks; want the same tasks in the same order")
    higher = ours[:, None, :] > theirs[None, :, :]
    equal = ours[:, None, :] == theirs[None, :, :]
    return float((higher + 0.5 * equal).mean())


def _scores(scores: Array) -> Array:
    return numbers(scores, "scores", axes=2)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """How often each seed and each task is drawn in every resample."""

    seeds: Array
    """``[S, resamples]``; each column sums to S."""
    tasks: Array
    """``[T, resamples]``; each column sums to the size of every stratum within it."""

    def means(self, scores: Array, weights: Array) -> Array:
        """Weighted mean ``[resamples]``.

        Args:
            scores: ``[S, T]``.
            weights: of each task, ``[T]``, summing to 1.
        """
        found: Array = (((scores * weights) @ self.tasks) * self.seeds).sum(axis=0) / len(scores)
        return found

    def counted(self, scores: Array) -> Counted:
        """How many of the scores ``[S, T]`` each resample has up to each distinct one."""
        order = np.argsort(scores, axis=None, kind="stable")
        rows, columns = np.unravel_index(order, scores.shape)
        values, starts = np.unique(scores.ravel()[order], return_index=True)
        copies = np.add.reduceat(self.seeds[rows] * self.tasks[columns], starts, axis=0)
        return Counted(values=values, upto=copies.cumsum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Resamples of all scores."""

    values: Array
    """``[V]``, distinct, ascending."""
    upto: Array
    """Scores up to each, ``[V, resamples]``."""

    def iqms(self) -> Array:
        """``iqm`` of every resample, ``[resamples]``."""
        size = self.upto[-1, 0]
        cut = size // 4
        kept = np.diff(np.clip(self.upto, cut, size - cut), axis=0, prepend=cut)
        found: Array = self.values @ kept / (size - 2 * cut)
        return found

    def profiles(self, thresholds: Array) -> Array:
        """``profile`` of every resample, ``[resamples, thresholds]``."""
        below = np.searchsorted(self.values, thresholds, side="right")
        upto = np.concatenate([np.zeros_like(self.upto[:1]), self.upto])
        found: Array = (1.0 - upto / self.upto[-1])[below].T
        return found


def draw(bootstrap: Bootstrap, seeds: int, strata: Sequence[int]) -> Draws:
    """Resamples of seeds, and of the tasks of each stratum by itself; the same numbers of both are drawn alike: figures can be paired.

    A single seed is kept, as nothing is known of others: its tasks are those that ``Bootstrap.means`` draws.

    Args:
        bootstrap: how many, and under which key.
        seeds: S.
        strata: tasks of each domain, in the order of the columns.
    """
    rng = np.random.Generator(np.random.PCG64(derive(bootstrap.seed, "bootstrap")))
    return Draws(
        seeds=_counts(seeds, bootstrap.resamples, rng),
        tasks=np.concatenate([_counts(tasks, bootstrap.resamples, rng) for tasks in strata]),
    )


def _counts(size: int, resamples: int, rng: np.random.Generator) -> Array:
    if size == 1:
        return np.ones((1, resamples))
    drawn = rng.integers(0, size, (resamples, size)) + size * np.arange(resamples)[:, None]
    found = np.bincount(drawn.ravel(), minlength=size * resamples).reshape(resamples, size)
    return np.ascontiguousarray(found.T, dtype=np.float64)
