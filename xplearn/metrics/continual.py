"""Continual learning: the matrix R[stage, domain] of one arm, and the figures that are read from it.

The functions take ``scores`` of shape ``[..., 1 + K, D]``: row 0 before any learning, row k after the k-th of K stages, column d a domain;
leading axes are resamples. ``learned[k - 1]`` is the column of the domain that stage k learns. What the literature calls a task is a stage,
tested on its domain: on a stream that meets every domain once, the formulas are the published ones. What was not evaluated is NaN, and what
depends on it as well.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from xplearn.errors import ConfigError
from xplearn.metrics.bootstrap import Array, Bootstrap, Interval
from xplearn.metrics.digits import tenths
from xplearn.metrics.falls import Fall, contrast, fall
from xplearn.metrics.finals import average_score, final_score
from xplearn.metrics.paired import scores_by_pairing, task_means
from xplearn.metrics.retention import kept
from xplearn.metrics.scores import evaluated
from xplearn.types import Arm, EpisodeResult

Figure = Callable[[Array, Sequence[int]], Array]


def final(scores: Array, learned: Sequence[int]) -> Array:
    """Mean over the domains seen of ``R[K, d]``. Source: ACC of Lopez-Paz and Ranzato (2017)."""
    return _mean(scores[..., -1, sorted(set(learned))])


def average(scores: Array, learned: Sequence[int]) -> Array:
    """Mean over the stages k of ``final`` after stage k. Source: average incremental accuracy of Rebuffi et al. (2017)."""
    finals = [final(scores[..., : stage + 1, :], learned[:stage]) for stage in range(1, len(learned) + 1)]
    return _mean(np.stack(finals, axis=-1))


def forgetting(scores: Array, learned: Sequence[int]) -> Array:
    """Final minus best so far: mean over the domains learned before stage K of ``R[K, d] - max over 1 <= k <= K of R[k, d]``, at most 0."""
    earlier = sorted(set(learned[:-1]))
    return _mean(scores[..., -1, earlier] - scores[..., 1:, earlier].max(axis=-2))


def chaudhry_forgetting(scores: Array, learned: Sequence[int]) -> Array:
    """Mean over the stages i < K of ``max over 1 <= k < K of R[k, d_i]  -  R[K, d_i]``; more is worse. Source: Chaudhry et al. (2018)."""
    earlier = list(learned[:-1])
    return _mean(scores[..., 1:-1, earlier].max(axis=-2, initial=-np.inf) - scores[..., -1, earlier])


def bwt(scores: Array, learned: Sequence[int]) -> Array:
    """Backward transfer, mean over the stages i < K of ``R[K, d_i] - R[i, d_i]``. Source: Lopez-Paz and Ranzato (2017).

    Avalanche's ``StreamBWT``; its ``StreamForgetting`` is the negative.
    """
    earlier = list(learned[:-1])
    return _mean(scores[..., -1, earlier] - scores[..., range(1, len(learned)), earlier])


def fwt(scores: Array, learned: Sequence[int]) -> Array:
    """Forward transfer, mean over the stages i > 1 of ``R[i - 1, d_i] - R[0, d_i]``. Source: Lopez-Paz and Ranzato (2017).

    Avalanche's ``StreamForwardTransfer``. In the experience arm row 0 holds the first stage's experience: Base+Harness.
    """
    later = list(learned[1:])
    return _mean(scores[..., range(1, len(learned)), later] - scores[..., 0, later])


FIGURES: Mapping[str, Figure] = {
    "final": final,
    "average": average,
    "forgetting": forgetting,
    "chaudhry_forgetting": chaudhry_forgetting,
    "bwt": bwt,
    "fwt": fwt,
}
"""By name, in the order of ``Matrix.figures``."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """R[stage, domain] of one arm of a run, finished or not."""

    arm: Arm
    domains: tuple[str, ...]
    """Columns."""
    stream: tuple[str, ...]
    """Domain that each stage learns."""
    scores: Mapping[tuple[int, str], Mapping[str, float]]
    """Mean score of each task, 0 to 100, of every (point, domain) that was evaluated in full; point 0 is before any learning."""
    bootstrap: Bootstrap

    @cached_property
    def values(self) -> Array:
        """Mean scores ``[1 + K, D]``, 0 to 100; NaN where not evaluated."""
        found = np.full((1 + len(self.stream), len(self.domains)), np.nan)
        for (point, domain), by_task in self.scores.items():
            found[point, self.domains.index(domain)] = sum(by_task.values()) / len(by_task)
        return found

    @property
    def reached(self) -> int:
        """The last stage after which every domain was evaluated, as after every one before it."""
        missing = np.flatnonzero(np.isnan(self.values[1:]).any(axis=1))
        return int(missing[0]) if missing.size else len(self.stream)

    def figures(self) -> dict[str, Interval | None]:
        """The ``FIGURES`` after stage ``reached``, with intervals over tasks, the same in all stages (``metrics.falls``).

        None for what is not defined: transfer and forgetting with one stage, forward transfer without an evaluation before learning.
        """
        return {
            "final": final_score({0: self}),
            "average": average_score(self),
            "forgetting": self._fall(set(self._studied[:-1]), last=self.reached),
            "chaudhry_forgetting": _negative(self._fall(self._studied[:-1], last=self.reached - 1)),
            "bwt": self._contrast(bwt),
            "fwt": self._contrast(fwt),
        }

    def _fall(self, domains: Collection[int], *, last: int) -> Interval | None:
        """Final score minus the best of the stages up to ``last``, mean over domains; None without one."""
        if not domains or last < 1:
            return None
        by_task = {domain: self._by_task(self.domains[domain], self.reached) for domain in sorted(domains)}
        shares = Counter(domains)
        falls = [
            Fall(gaps=rows[:, [self.reached]] - rows[:, 1 : last + 1], share=shares[domain] / len(domains))
            for domain, rows in by_task.items()
        ]
        if not all(map(len, by_task.values())):
            return None
        return fall(falls, self.bootstrap, (-100.0, 0.0 if last == self.reached else 100.0))

    def _contrast(self, figure: Figure) -> Interval | None:
        """A figure that is linear in the matrix, so that each task has a share of it."""
        if self.reached < 2 or np.isnan(figure(self.values[: self.reached + 1], self._studied)):
            return None
        shape = (self.reached + 1, len(self.domains))
        weights = figure(np.eye(math.prod(shape)).reshape(-1, *shape), self._studied).reshape(shape)
        shares = []
        for domain, weight in zip(self.domains, weights.T, strict=True):
            used = np.flatnonzero(weight)
            shares += [self._by_task(domain, self.reached)[:, used] @ weight[used]] if used.size else []
        if not all(map(len, shares)):
            return None
        return contrast(shares, self.bootstrap, (-100.0, 100.0))

    @property
    def _studied(self) -> list[int]:
        """``learned``, of the stages reached."""
        return self.learned[: self.reached]

    @property
    def learned(self) -> list[int]:
        """Column of the domain that each stage learns."""
        return [self.domains.index(domain) for domain in self.stream]

    def _by_task(self, domain: str, reached: int) -> Array:
        """Scores ``[N, 1 + reached]`` of the tasks that a domain has wherever it was evaluated; NaN where it was not."""
        rows = [self.scores.get((point, domain), {}) for point in range(reached + 1)]
        tasks = [task for task in rows[-1] if all(task in row for row in rows if row)]
        return np.array([[row.get(task, np.nan) for row in rows] for task in tasks]).reshape(len(tasks), reached + 1)

    def __str__(self) -> str:
        """One line per point."""
        lines = [" ".join([f"{self.arm:<12}", *(f"{domain:>20}" for domain in self.domains)])]
        for point, row in enumerate(self.values):
            lines.append(" ".join([f"{f'after {point}' if point else 'before':<12}", *(f"{cell(value):>20}" for value in row)]))
        return "\n".join(lines)


def cell(value: float) -> str:
    """One value of the matrix as text."""
    return "–" if np.isnan(value) else tenths(value)


def final_retention(plain: Matrix, experience: Matrix) -> Interval | None:
    """``final`` of the plain arm over that of the experience arm, in percent (``metrics.retention``); None where undefined."""
    reached = min(plain.reached, experience.reached)
    pairs = []
    for domain in sorted(set(plain.stream[:reached])):
        without, shown = plain.scores[reached, domain], experience.scores[reached, domain]
        pairs.append(np.array([(without[task], shown[task]) for task in without if task in shown]).reshape(-1, 2))
    return kept(pairs, [1.0 / len(pairs)] * len(pairs), plain.bootstrap) if pairs and all(map(len, pairs)) else None


def _negative(value: Interval | None) -> Interval | None:
    """As an amount that was lost."""
    if value is None:
        return None
    low, high = (None if bound is None else 0.0 - bound for bound in (value.high, value.low))
    return Interval(mean=0.0 - value.mean, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSpread:
    """How much the order of the stages matters: the same stages in several orders."""

    finals: tuple[float, ...]
    """``final`` of each order."""
    mean: float
    deviation: float
    """Sample standard deviation of the finals."""
    disparity: Mapping[str, float]
    """Largest minus smallest final score by domain. Source: order-normalized performance disparity of Yoon et al. (2020)."""


def order_spread(matrices: Sequence[Matrix]) -> OrderSpread:
    """The spread over finished runs of one stream's stages in several orders, all of one arm.

    Raises:
        ConfigError: fewer than two, one that is not finished, or they differ in more than the order.
    """
    if len(matrices) < 2:
        raise ConfigError("matrices", f"has {len(matrices)}; a spread needs at least 2 orders")
    for number, matrix in enumerate(matrices):
        if matrix.reached < len(matrix.stream):
            raise ConfigError(f"matrices.{number}", f"has {matrix.reached} of {len(matrix.stream)} stages evaluated; finish its run first")
        if _apart_from_order(matrix) != _apart_from_order(matrices[0]):
            raise ConfigError(
                f"matrices.{number}", "differs from the first in more than order: want the same arm, stages and evaluated tasks"
            )
    finals = [float(final(matrix.values, matrix.learned)) for matrix in matrices]
    lasts = {domain: [matrix.values[-1, matrix.domains.index(domain)] for matrix in matrices] for domain in matrices[0].domains}
    return OrderSpread(
        finals=tuple(finals),
        mean=float(np.mean(finals)),
        deviation=float(np.std(finals, ddof=1)),
        disparity={domain: float(max(values) - min(values)) for domain, values in lasts.items()},
    )


def build_matrix(
    results: Iterable[EpisodeResult],
    *,
    arm: Arm,
    stream: Sequence[str],
    episodes: Mapping[str, int],
    finished: bool,
    bootstrap: Bootstrap,
) -> Matrix:
    """The matrix of one arm.

    A stage that changed nothing is not evaluated: its row is that of the stage before.

    Args:
        results: a run's episodes in any order.
        arm: ``plain`` or ``experience``.
        stream: domain that each stage learns.
        episodes: how many make one evaluation of a domain in one arm; with fewer it is not there yet.
        finished: no more will come.
        bootstrap: how the intervals are drawn.

    Raises:
        ConfigError: there is no such arm.
    """
    if arm not in get_args(Arm):
        raise ConfigError("arm", f"is '{arm}'; want {' or '.join(get_args(Arm))}")
    cells: dict[tuple[int, str], list[EpisodeResult]] = defaultdict(list)
    points = {0}
    for result in results:
        place = evaluated(result.phase)
        if place is not None and place[0] <= len(stream) and place[1] in episodes:
            points.add(place[0])
            cells[place] += [result] if result.arm == arm else []
    scores = {place: by_task for place, members in cells.items() if (by_task := _by_task(members, episodes[place[1]]))}
    for point in range(1, 1 + (len(stream) if finished else max(points))):
        if point not in points:
            scores |= {(point, domain): scores[point - 1, domain] for domain in episodes if (point - 1, domain) in scores}
    return Matrix(arm=arm, domains=tuple(episodes), stream=tuple(stream), scores=scores, bootstrap=bootstrap)


def _by_task(members: Sequence[EpisodeResult], expected: int) -> dict[str, float]:
    """Mean score of each task, 0 to 100; empty where episodes are missing."""
    found = scores_by_pairing(members)
    tasks = dict.fromkeys(task for _, task, _ in found)
    return dict(zip(tasks, (100.0 * mean for mean in task_means(found)), strict=True)) if len(found) >= expected else {}


def _apart_from_order(matrix: Matrix) -> tuple[object, ...]:
    numbered = matrix.stream if any("#" in domain for domain in matrix.domains) else ()
    tasks = {domain: sorted(matrix.scores[len(matrix.stream), domain]) for domain in matrix.domains}
    return matrix.arm, sorted(matrix.stream), tasks, numbered


def _mean(values: Array) -> Array:
    """Over the last axis; NaN where it is empty."""
    return values.mean(axis=-1) if values.shape[-1] else np.full(values.shape[:-1], np.nan)
