"""Several runs side by side: what each scores at every evaluation point, beside its Base, and its final score beside the first run's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xplearn.metrics.bootstrap import Interval
from xplearn.metrics.continual import Matrix, OrderSpread, order_spread
from xplearn.metrics.finals import final_difference
from xplearn.metrics.retention import retention_by_task
from xplearn.types import Arm

ARMS: tuple[Arm, ...] = ("plain", "experience")
"""In the order they are shown."""

ByDomain = Mapping[str, Mapping[str, float]]
"""Mean score of each task, 0 to 100, by domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One arm of one run."""

    run: str
    """What the run is called."""
    matrix: Matrix
    alone: bool = False
    """It is the run's only arm."""
    method: str = ""
    """The same for runs that differ in nothing but the order of their stages."""
    start: str = ""
    """The same for runs whose policy acts alike before learning."""
    configuration: str = ""
    """The same for runs that differ in nothing but their seed."""
    title: str = ""
    """The run's own name, which others may share."""
    seed: int = 0

    @property
    def name(self) -> str:
        """The run, and whether its bank is shown where that tells its arms apart."""
        return self.run + ("" if self.alone else harness(self.matrix.arm))

    def at(self, point: int) -> ByDomain:
        """The scores at an evaluation point, of the domains that were evaluated in full."""
        return {domain: self.matrix.scores[point, domain] for domain in self.matrix.domains if (point, domain) in self.matrix.scores}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One evaluation point of an arm."""

    label: str
    scores: Mapping[str, Interval]
    """By domain, 0 to 100, over tasks."""
    versus_base: Mapping[str, Interval]
    """Paired difference to Base, by domain: the run's own, or that of another which starts alike where it has none."""
    retention: Mapping[str, Interval]
    """What the run's plain arm keeps of an experience arm's score, in percent, by domain. See ``metrics.retention``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Lines that belong together: all before learning, or one arm of one run."""

    name: str
    lines: tuple[Line, ...]


def groups(entries: Sequence[Entry]) -> list[Group]:
    """What was scored before learning, once where the runs agree, then each entry stage by stage."""
    bases = before_learning(entries)
    plain = {entry.run: entry for entry in entries if entry.matrix.arm == "plain"}
    opening = tuple(_opening(label, entry, bases) for label, entry in _openings(entries))
    later = [Group(name=entry.name, lines=tuple(_stages(entry, bases, plain.get(entry.run)))) for entry in entries]
    return [group for group in (Group(name="", lines=opening), *later) if group.lines]


def before_learning(entries: Sequence[Entry]) -> dict[str, ByDomain]:
    """Base by run: what its policy scored before learning, or that of another which starts alike where it was not evaluated."""
    own = {entry.run: entry for entry in entries if entry.matrix.arm == "plain" and entry.at(0)}
    alike = {entry.start: entry for entry in reversed(own.values())}
    return {entry.run: found.at(0) for entry in entries if (found := own.get(entry.run) or alike.get(entry.start))}


def versus_first(entries: Sequence[Entry]) -> list[Interval | None]:
    """How far each entry's final score lies above the first one's, paired over tasks; None for the first itself."""
    return [final_difference({0: entry.matrix}, {0: entries[0].matrix}) if number else None for number, entry in enumerate(entries)]


def spreads(entries: Sequence[Entry]) -> Iterator[tuple[Arm, list[Entry], OrderSpread]]:
    """For each arm and method the finished runs, two or more, of one stream in several orders, and how much the order mattered."""
    alike: dict[tuple[Arm, str], list[Entry]] = {}
    for entry in entries:
        numbered = any("#" in domain for domain in entry.matrix.stream)
        if entry.matrix.reached == len(entry.matrix.stream) and not numbered:
            alike.setdefault((entry.matrix.arm, entry.method), []).append(entry)
    for (arm, _), found in alike.items():
        orders = {entry.matrix.stream for entry in found}
        if len(orders) == len(found) > 1:
            yield arm, found, order_spread([entry.matrix for entry in found])


def _openings(entries: Sequence[Entry]) -> Iterator[tuple[str, Entry]]:
    for arm in ARMS:
        found = [entry for entry in entries if entry.matrix.arm == arm and entry.at(0)]
        agree = _agree([entry.at(0) for entry in found])
        widest = max(found, key=lambda entry: len(entry.at(0)), default=None)
        for entry in [widest] if agree and widest else found:
            yield "Base" + harness(arm) + ("" if agree else f" of {entry.run}"), entry


def _opening(label: str, entry: Entry, bases: Mapping[str, ByDomain]) -> Line:
    base = {} if entry.matrix.arm == "plain" else bases.get(entry.run, {})
    return _line(label, entry, 0, base, base)


def _stages(entry: Entry, bases: Mapping[str, ByDomain], plain: Entry | None) -> Iterator[Line]:
    for point, domain in enumerate(entry.matrix.stream, start=1):
        if entry.at(point):
            without = plain.at(point) if plain and plain is not entry else {}
            label = f"{entry.name} after {point}" + (f" {domain}" if len(entry.matrix.domains) > 1 else "")
            yield _line(label, entry, point, bases.get(entry.run, {}), without)


def _line(label: str, entry: Entry, point: int, base: ByDomain, without: ByDomain) -> Line:
    scores, bootstrap = entry.at(point), entry.matrix.bootstrap
    kept = {domain: retention_by_task(without[domain], by_task, bootstrap) for domain, by_task in scores.items() if domain in without}
    return Line(
        label=label,
        scores={domain: bootstrap.mean(list(by_task.values()), within=(0.0, 100.0)) for domain, by_task in scores.items()},
        versus_base={
            domain: bootstrap.difference([score - base[domain][task] for task, score in by_task.items()], within=(-100.0, 100.0))
            for domain, by_task in scores.items()
            if domain in base
        },
        retention={domain: found for domain, found in kept.items() if found},
    )


def _agree(scores: Sequence[ByDomain]) -> bool:
    """Whether all are the same wherever they tell of the same domain."""
    known: dict[str, Mapping[str, float]] = {}
    return all(known.setdefault(domain, by_task) == by_task for found in scores for domain, by_task in found.items())


def harness(arm: Arm) -> str:
    """What a name has after it where the bank is shown."""
    return "+Harness" if arm == "experience" else ""
