"""Runs that differ in nothing but their seed, as one: scores averaged over seeds, task by task, and what the seed makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from xplearn.metrics.bootstrap import Interval
from xplearn.metrics.compare import ARMS, Entry, harness
from xplearn.metrics.continual import Matrix, build_matrix, final, final_retention
from xplearn.types import Arm, EpisodeResult

BySeed = Mapping[int, Matrix]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """One arm of one configuration over its seeds."""

    configuration: str
    arm: Arm
    name: str
    """The runs' own, as far as they share it, and whether the bank is shown where that tells arms apart."""
    entries: Mapping[int, Entry]
    """By seed."""

    @property
    def label(self) -> str:
        """The name, and the number of seeds where there are several."""
        return self.name + (f" ×{len(self.entries)} seeds" if len(self.entries) > 1 else "")

    @property
    def scores(self) -> BySeed:
        """The matrix of each seed."""
        return {seed: entry.matrix for seed, entry in self.entries.items()}


def pools(entries: Sequence[Entry]) -> list[Pool]:
    """Every arm of every configuration, in the order they come; none at all where no configuration has two seeds.

    Of several runs of one configuration and seed the first counts.
    """
    found: dict[str, dict[Arm, dict[int, Entry]]] = {}
    for entry in entries:
        found.setdefault(entry.configuration, {}).setdefault(entry.matrix.arm, {}).setdefault(entry.seed, entry)
    if not any(len(by_seed) > 1 for by_arm in found.values() for by_seed in by_arm.values()):
        return []
    names = called({key: [entry for by_seed in by_arm.values() for entry in by_seed.values()] for key, by_arm in found.items()})
    return [
        Pool(configuration=key, arm=arm, name=names[key] + _suffix(by_arm[arm], arm), entries=by_arm[arm])
        for key, by_arm in found.items()
        for arm in ARMS
        if arm in by_arm
    ]


def called(configurations: Mapping[str, Sequence[Entry]]) -> dict[str, str]:
    """What to call each configuration: what the names of its runs have in common; its first run where another is called so."""
    titles = {key: common([entry.title for entry in members]) for key, members in configurations.items()}
    repeated = Counter(titles.values())
    return {key: title if repeated[title] == 1 else configurations[key][0].run for key, title in titles.items()}


def averaged(matrices: Iterable[Matrix]) -> Matrix:
    """The mean over seeds of the score of each task, wherever every seed was evaluated in full on that task."""
    first, *others = matrices
    scores: dict[tuple[int, str], dict[str, float]] = {}
    for place, by_task in first.scores.items():
        rows = [by_task, *(matrix.scores.get(place, {}) for matrix in others)]
        means = {task: sum(row[task] for row in rows) / len(rows) for task in by_task if all(task in row for row in rows)}
        scores |= {place: means} if means else {}
    return replace(first, scores=scores)


def successes(matrix: Matrix, results: Iterable[EpisodeResult]) -> Matrix:
    """The same cells with the success of each task, in percent of its replicas, from the run's episodes."""
    counted = (replace(result, score=float(result.success)) for result in results)
    one = dict.fromkeys(matrix.domains, 1)
    found = build_matrix(counted, arm=matrix.arm, stream=matrix.stream, episodes=one, finished=True, bootstrap=matrix.bootstrap)
    return replace(matrix, scores={place: found.scores[place] for place in matrix.scores})


def retention(plain: BySeed, experience: BySeed) -> Interval | None:
    """``final_retention`` over the seeds that both arms have."""
    common = [seed for seed in plain if seed in experience]
    return final_retention(averaged(plain[seed] for seed in common), averaged(experience[seed] for seed in common)) if common else None


def deviation(matrices: Iterable[Matrix]) -> float | None:
    """Sample standard deviation of the final scores over seeds, after the last stage that all have reached; None with fewer than two."""
    found = list(matrices)
    reached = min(matrix.reached for matrix in found)
    if len(found) < 2 or not reached:
        return None
    return float(np.std([final(matrix.values[: reached + 1], matrix.learned[:reached]) for matrix in found], ddof=1))


def common(names: Sequence[str]) -> str:
    """What names begin with alike, without a number cut in half and without what joins it to the rest; the first where that is nothing."""
    prefix = "".join(letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
    if any(name[len(prefix) : len(prefix) + 1].isdigit() for name in names):
        prefix = prefix.rstrip("0123456789")
    return (prefix if len(set(names)) == 1 else prefix.rstrip("-_ .=")) or names[0]


def _suffix(by_seed: Mapping[int, Entry], arm: Arm) -> str:
    return "" if all(entry.alone for entry in by_seed.values()) else harness(arm)
