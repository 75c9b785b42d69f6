"""What a run did round by round: training scores in each arm, what experience gained there, and the size of the bank."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xplearn.types import Arm, EpisodeResult

if TYPE_CHECKING:
    from xplearn.record.history import Call

Place = tuple[int, int]
"""(stage, round), both from 0, warm-up stages counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round, as far as it is recorded."""

    place: Place
    scores: Mapping[Arm, float]
    """Mean score of its rollouts, 0 to 100, by arm; those that died are left out, as learners leave them out."""
    gain_mean: float | None
    """What a learner reported under that name, in the unit of its reward."""
    bank: int | None
    """Experiences after it."""

    @property
    def gain(self) -> float | None:
        """Score of the experience arm minus that of the plain arm; None unless both were played."""
        return self.scores["experience"] - self.scores["plain"] if len(self.scores) == 2 else None


def build_rounds(results: Iterable[EpisodeResult], scalars: Iterable[Mapping[str, Any]], calls: Iterable[Call]) -> list[Round]:
    """The rounds of a run so far, in order.

    Args:
        results: episodes in any order; only rollouts to train on count, demonstrations are not to be among them.
        scalars: the learners' figures, a mapping for each stage, round and learner.
        calls: what each call of a learner left; none for a run that was recorded before they were.
    """
    scores = _scores(results)
    told: dict[Place, float | None] = {}
    sizes: dict[Place, float | None] = {}
    for line in scalars:
        place = line["stage"], line["round"]
        told[place] = figure(line, "gain_mean", told.get(place))
        sizes[place] = figure(line, "bank", sizes.get(place))
    for call in calls:
        place = call.stage, call.round
        sizes[place] = sizes.get(place) if call.bank is None else call.bank
    found, bank = [], None
    for place in sorted({*scores, *sizes}):
        size = sizes.get(place)
        bank = bank if size is None else int(size)
        found.append(Round(place=place, scores=scores.get(place, {}), gain_mean=told.get(place), bank=bank))
    return found


def figure(line: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    """A figure of a line of figures, where it has one that is a finite number."""
    value = line.get(name)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else default


def mean_gain(rounds: Sequence[Round]) -> float | None:
    """Mean over the rounds that played both arms, in points of score."""
    gains = [found.gain for found in rounds if found.gain is not None]
    return sum(gains) / len(gains) if gains else None


def _scores(results: Iterable[EpisodeResult]) -> dict[Place, dict[Arm, float]]:
    found: dict[Place, dict[Arm, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        place = trained(result.phase)
        if place is not None and result.error is None:
            found[place][result.arm].append(100.0 * result.score)
    return {place: {arm: sum(values) / len(values) for arm, values in by_arm.items()} for place, by_arm in found.items()}


def trained(phase: str) -> Place | None:
    """Stage and round of a training phase; None for any other phase."""
    head, *rest = phase.split("/")
    if head != "train" or len(rest) != 2 or not all(part.isascii() and part.isdecimal() for part in rest):
        return None
    return int(rest[0]), int(rest[1])
