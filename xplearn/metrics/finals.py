"""Final scores of one arm over its seeds, and differences of two, with intervals over tasks, and over seeds where there are several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from xplearn.metrics.board import TaskScores
from xplearn.metrics.crossed import Estimator, grids, paired

if TYPE_CHECKING:
    from xplearn.metrics.bootstrap import Interval
    from xplearn.metrics.continual import Matrix

    BySeed = Mapping[int, Matrix]


def final_score(scores: BySeed) -> Interval | None:
    """``continual.final`` after the last stage that every seed has reached; None where there is none, or no task that every seed has."""
    reached = _reached(scores.values())
    if not reached:
        return None
    found = grids(_tasks(scores, reached))
    return Estimator(_any(scores).bootstrap).mean(found[0]) if found else None


def average_score(matrix: Matrix) -> Interval | None:
    """``continual.average`` of one seed; None where no stage is reached.

    Each task counts in every stage that has seen its domain, as one of that many domains.
    """
    found: dict[tuple[str, str], float] = defaultdict(float)
    for stage in range(1, matrix.reached + 1):
        domains = set(matrix.stream[:stage])
        for domain in domains:
            for task, score in matrix.scores[stage, domain].items():
                found[domain, task] += score / len(domains)
    if not found:
        return None
    everything = len(set(matrix.stream[: matrix.reached])) / matrix.reached
    (grid,) = grids({0: {task: everything * share for task, share in found.items()}})
    return Estimator(matrix.bootstrap).mean(grid)


def final_difference(ours: BySeed, theirs: BySeed) -> Interval | None:
    """One final score minus another, paired on seed and task; None without a common seed, or where they have not come equally far.

    Equally far is as many stages, of the same domains in whatever order.
    """
    common = [seed for seed in ours if seed in theirs]
    sides = [{seed: side[seed] for seed in common} for side in (ours, theirs)]
    reached, others = (_reached(side.values()) for side in sides)
    if not reached or reached != others:
        return None
    one, other = map(_any, sides)
    if set(one.domains) != set(other.domains) or set(one.stream[:reached]) != set(other.stream[:reached]):
        return None
    grid = paired(*(_tasks(side, reached) for side in sides))
    return None if grid is None else Estimator(one.bootstrap).difference(grid)


def _reached(matrices: Iterable[Matrix]) -> int:
    return min((matrix.reached for matrix in matrices), default=0)


def _any(scores: BySeed) -> Matrix:
    return next(iter(scores.values()))


def _tasks(scores: BySeed, reached: int) -> dict[int, TaskScores]:
    """By seed, the score of each task of the domains seen."""
    return {
        seed: {(domain, task): score for domain in set(matrix.stream[:reached]) for task, score in matrix.scores[reached, domain].items()}
        for seed, matrix in scores.items()
    }
