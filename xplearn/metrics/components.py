"""What a mean over seeds and tasks varies with, and how far it may be off.

Of scores ``[seeds, tasks]`` whose tasks come from strata (domains) that count alike, the mean varies with the tasks that happen to be on
the panel, with the seeds that happened to be run, and with chance in each cell, which shows in both. The half-length of its interval is
Student's: three seeds say little, and the interval says so. Of the two usual quantiles for a sum of variances, that of Satterthwaite, An
Approximate Distribution of Estimates of Variance Components (1946), makes it hold the truth too seldom with three seeds, and the weighted
one of Cochran and Cox, Experimental Designs (1950), a little too often; midway between them [OURS] it is right (``tests/unit``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xplearn.metrics import student
from xplearn.metrics.bootstrap import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Variances of a mean, and degrees of freedom."""

    tasks: float
    """From panel to panel, for these very seeds: squared standard error over tasks."""
    seeds: float
    """From seed to seed, on these very tasks; 0 with a single seed."""
    chance: float
    """What both hold of the chance in each cell; 0 with a single seed."""
    task_freedom: float
    """Tasks minus strata where those are alike; less where a small one says much of the error."""
    seed_freedom: int

    def half(self, confidence: float) -> float:
        """Half the length of the interval over tasks, and over seeds where there are several."""
        level = (1.0 + confidence) / 2.0
        over_tasks = student.quantile(level, self.task_freedom)
        panel = max(self.tasks - self.chance, 0.0)
        total = panel + self.seeds
        if not self.seed_freedom or total <= 1e-12 * self.tasks:
            return over_tasks * math.sqrt(self.tasks)
        over_seeds = student.quantile(level, self.seed_freedom)
        weighted = (over_tasks * panel + over_seeds * self.seeds) / total
        freedom = total**2 / (panel**2 / self.task_freedom + self.seeds**2 / self.seed_freedom)
        return 0.5 * (weighted + student.quantile(level, freedom)) * math.sqrt(total)


def weights(strata: Sequence[int]) -> Array:
    """Weight of each task ``[T]``, summing to 1: strata count alike, and so do the tasks of one."""
    return np.repeat(np.array([1.0 / (len(strata) * tasks) for tasks in strata]), strata)


def components(scores: Array, strata: Sequence[int]) -> Components | None:
    """What the mean of scores ``[S, T]`` varies with; None where a stratum has a single task, so that nothing is known of others.

    Args:
        scores: finite.
        strata: tasks of each domain, in the order of the columns.
    """
    blocks = np.split(scores, np.cumsum(strata)[:-1], axis=1)
    share = 1.0 / len(strata)
    spread = student.of_strata([block.mean(axis=0) for block in blocks], [share] * len(strata))
    if spread is None:
        return None
    seeds, several = len(scores), len(scores) > 1
    return Components(
        tasks=spread[0],
        seeds=float((scores @ weights(strata)).var(ddof=1)) / seeds if several else 0.0,
        chance=sum(share**2 * _within(block) / block.size for block in blocks) if several else 0.0,
        task_freedom=spread[1],
        seed_freedom=seeds - 1,
    )


def _within(block: Array) -> float:
    """Mean square of what neither seed nor task explains."""
    rows, columns = block.shape
    rest: Array = block - block.mean(axis=0) - block.mean(axis=1, keepdims=True) + block.mean()
    return float(np.square(rest).sum() / ((rows - 1) * (columns - 1)))
