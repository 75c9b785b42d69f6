"""Which episodes a page shows first, where it cannot show all: the ends of what a person compares, then a fair sample of the way there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from xplearn.metrics.scores import evaluated

if TYPE_CHECKING:
    from xplearn.record.reader import Run
    from xplearn.types import EpisodeResult

T = TypeVar("T")

Key = tuple[int, str, str, str]
"""Number of a run, phase, task, and the end of an id: 0-based number of a replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The episodes of one task, replica and phase of a run: both arms where both were played."""

    run: int
    """Which of the page's runs."""
    number: int
    """In the order of the page's list."""
    replica: str
    """``replica 2 of 10``; empty where its task was played once in that phase."""
    results: tuple[EpisodeResult, ...]
    """Plain before experience."""


def units(runs: Sequence[Run]) -> list[Unit]:
    """The episodes of runs, run by run: evaluations, then what was learned from, phases in the order they began."""
    found: dict[Key, list[EpisodeResult]] = {}
    for number, run in enumerate(runs):
        for phase in _phases(run):
            for result in phase:
                found.setdefault((number, result.phase, result.task, result.id.rpartition("/")[2]), []).append(result)
    replicas = _replicas(runs, found)
    return [
        Unit(
            run=key[0],
            number=number,
            replica=replicas[key],
            results=tuple(sorted(results, key=lambda result: result.arm == "experience")),
        )
        for number, (key, results) in enumerate(found.items())
    ]


def ordered(found: Sequence[Unit]) -> list[Unit]:
    """First and last evaluation, then training, then the evaluations between; any beginning of each is an even sample of it."""
    ends = _ends(found)
    tiers: tuple[list[Unit], list[Unit], list[Unit]] = ([], [], [])
    for unit in found:
        place = evaluated(unit.results[0].phase)
        tier = 1 if place is None else 0 if place[0] in ends[unit.run] else 2
        tiers[tier].append(unit)
    return [unit for tier in tiers for unit in spread(tier)]


def spread(values: Sequence[T]) -> Iterator[T]:
    """All values, in an order of which every beginning is about evenly spread: by their reversed binary number (van der Corput, 1935)."""
    bits = max(1, (len(values) - 1).bit_length())
    order = sorted(range(len(values)), key=lambda number: f"{number:0{bits}b}"[::-1])
    return (values[number] for number in order)


def _replicas(runs: Sequence[Run], keys: Iterable[Key]) -> dict[Key, str]:
    """What tells units of one task from one another, by key: an evaluation has as many as were asked for, though some are still to come."""
    alike: dict[tuple[int, str, str], list[Key]] = {}
    for key in keys:
        alike.setdefault(key[:3], []).append(key)
    found: dict[Key, str] = {}
    for (run, phase, _), members in alike.items():
        numbers = [int(key[3]) + 1 if key[3].isdecimal() else place for place, key in enumerate(members, start=1)]
        asked = runs[run].header.resolved["evaluate"].get("replicas", 1) if evaluated(phase) else 1
        count = max(asked, len(members), *(numbers if len(members) > 1 else ()))
        found |= {key: f"replica {number} of {count}" if count > 1 else "" for key, number in zip(members, numbers, strict=True)}
    return found


def _phases(run: Run) -> list[list[EpisodeResult]]:
    by_phase: dict[str, list[EpisodeResult]] = {}
    for result in run.episodes():
        by_phase.setdefault(result.phase, []).append(result)
    return [by_phase[phase] for phase in sorted(by_phase, key=lambda phase: evaluated(phase) is None)]


def _ends(found: Iterable[Unit]) -> dict[int, tuple[int, int]]:
    """First and last evaluation point of each run that has one."""
    points: dict[int, set[int]] = {}
    for unit in found:
        place = evaluated(unit.results[0].phase)
        if place is not None:
            points.setdefault(unit.run, set()).add(place[0])
    return {run: (min(of), max(of)) for run, of in points.items()}
