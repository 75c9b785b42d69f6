"""What a run spent: on episodes by what they were for, on its learners, and on keeping a bank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from xplearn.metrics.rounds import figure
from xplearn.metrics.scores import evaluated
from xplearn.types import Arm, EpisodeResult

if TYPE_CHECKING:
    from xplearn.record.history import Call, Note

Purpose = Literal["demonstrations", "training", "evaluation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Sums over episodes."""

    episodes: int
    tokens_in: int
    """Prompt tokens read."""
    tokens_out: int
    """Tokens written."""
    seconds: float
    """Wall time; of episodes played at once each has its share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What learners took, and what they did to the bank; None where the run did not record it."""

    bank: int | None
    """Experiences in it."""
    content_bytes: int | None
    """Of their texts and vectors."""
    added: int | None
    changed: int | None
    """Times that a text was replaced."""
    removed: int | None
    rounds: int
    """Rounds in which anything learned."""
    rounds_written: int | None
    """Those of them that added, changed or removed an experience."""
    record_seconds: float | None
    """Wall time of the learners that write the bank."""
    learner_seconds: float | None
    """Wall time of those that train the policy; in a run recorded before all were timed, of those that told theirs."""


def spending(results: Iterable[EpisodeResult], demonstrations: Collection[str] = ()) -> dict[tuple[Purpose, Arm], Spent]:
    """What episodes took, in the order demonstrations, training, evaluation, and plain before experience.

    Args:
        results: episodes in any order.
        demonstrations: training phases that the expert played.
    """
    found: dict[tuple[Purpose, Arm], list[EpisodeResult]] = defaultdict(list)
    for result in results:
        found[_purpose(result.phase, demonstrations), result.arm].append(result)
    purposes: tuple[Purpose, ...] = ("demonstrations", "training", "evaluation")
    arms: tuple[Arm, ...] = ("plain", "experience")
    order = [(purpose, arm) for purpose in purposes for arm in arms]
    return {key: _sum(found[key]) for key in order if key in found}


def upkeep(scalars: Sequence[Mapping[str, Any]], calls: Sequence[Call], notes: Sequence[Note]) -> Upkeep:
    """What learners took, from their figures, their calls, and what happened to the bank.

    A run that was recorded before calls were has its learners' own figures ``bank`` and ``seconds``.
    """
    sizes = [call.bank for call in calls if call.bank is not None] or [
        int(found) for line in scalars if (found := figure(line, "bank")) is not None
    ]
    timed = [(call.learner, call.seconds) for call in calls]
    timed = timed or [(line["learner"], found) for line in scalars if (found := figure(line, "seconds")) is not None]
    contents = [call.bank_bytes for call in calls if call.bank_bytes is not None]
    events = [note.event for note in notes]
    added, changed, removed = (events.count(event) if calls else None for event in _WRITES)
    written = {(note.stage, note.round) for note in notes if note.event in _WRITES}
    return Upkeep(
        bank=sizes[-1] if sizes else None,
        content_bytes=contents[-1] if contents else None,
        added=added,
        changed=changed,
        removed=removed,
        rounds=len({(line["stage"], line["round"]) for line in scalars}),
        rounds_written=len(written) if calls else None,
        record_seconds=_total([seconds for path, seconds in timed if path.startswith("record.")]),
        learner_seconds=_total([seconds for path, seconds in timed if not path.startswith("record.")]),
    )


_WRITES = ("added", "changed", "removed")


def _purpose(phase: str, demonstrations: Collection[str]) -> Purpose:
    if evaluated(phase) is not None:
        return "evaluation"
    return "demonstrations" if phase in demonstrations or phase.startswith("shown/") else "training"


def _sum(results: Sequence[EpisodeResult]) -> Spent:
    return Spent(
        episodes=len(results),
        tokens_in=sum(result.tokens_in for result in results),
        tokens_out=sum(result.tokens_out for result in results),
        seconds=sum(result.seconds for result in results),
    )


def _total(values: Sequence[float]) -> float | None:
    return sum(values) if values else None
