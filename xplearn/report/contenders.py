"""From recorded runs to the contenders of a leaderboard."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xplearn.metrics.board import Contender, TaskScores
from xplearn.metrics.compare import ARMS, ByDomain, Entry, before_learning, harness
from xplearn.metrics.seeds import called
from xplearn.record.cross import Cell, Cross
from xplearn.record.reader import Run
from xplearn.report import compare
from xplearn.types import Arm

BETWEEN = " · "
"""Between the labels of a name."""

SEED = ("seed", "run.seed")
"""Names of a cross's axis that tells seeds apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A run that has a place on some board."""

    run: Run
    entries: tuple[Entry, ...]
    """Its arms."""
    cell: Cell | None
    """Of the cross that it belongs to."""

    @property
    def configuration(self) -> str:
        """The same for runs that differ in nothing but their seed."""
        return json.dumps(labels(self.cell.axes)) if self.cell else self.entries[0].configuration


def played(run: Run, name: str, cells: Mapping[str, Cell]) -> Played | None:
    """A run with what it scored; None where no stage of it is evaluated yet.

    Args:
        run: finished or not.
        name: what it is called.
        cells: of a cross, by the name of their run's folder.

    Raises:
        RecordError: it is damaged.
    """
    entries = tuple(replace(entry, run=name) for entry in compare.entries([run]))
    reached = any(entry.matrix.reached for entry in entries)
    return Played(run=run, entries=entries, cell=cells.get(run.path.name)) if reached else None


def cells(cross: Cross | None) -> dict[str, Cell]:
    """The cells of a cross by the name of their run's folder: that for which it was made, none that is the same."""
    return {cell.run: cell for cell in cross.cells if cell.run and cell.state != "same"} if cross else {}


def labels(axes: Mapping[str, str]) -> dict[str, str]:
    """The labels that make a configuration."""
    return {axis: label for axis, label in axes.items() if axis not in SEED}


def contenders(runs: Sequence[Played]) -> list[Contender]:
    """Every arm of every configuration, in the order they come, with the scores after the last stage that all its runs have reached.

    Of several runs of one configuration and seed the first counts. Each is beside its own Base: a warm-up that shows a bank starts
    policies that differ. One without an evaluation before learning is beside that of a run whose policy starts alike.
    """
    configurations: dict[str, list[Played]] = {}
    for one in runs:
        configurations.setdefault(one.configuration, []).append(one)
    names = _names(configurations)
    found = before_learning([entry for one in runs for entry in one.entries])
    bases = {run: _flat(scores) for run, scores in found.items()}
    return [contender for key, members in configurations.items() for contender in _arms(names[key], members, bases)]


def labelled(axes: Iterable[Mapping[str, str]]) -> list[str]:
    """What each is called among the others: its labels on the axes that tell any of them apart; nothing where there is no such axis."""
    found = list(axes)
    names = dict.fromkeys(axis for labels in found for axis in labels)
    varying = [axis for axis in names if len({labels.get(axis) for labels in found}) > 1]
    return [BETWEEN.join(labels[axis] for axis in varying if axis in labels) for labels in found]


def _names(configurations: Mapping[str, Sequence[Played]]) -> dict[str, str]:
    """By labels where a cross made them, by those that tell them apart if any do; else by what the runs are called."""
    entries = {key: [entry for one in members for entry in one.entries] for key, members in configurations.items()}
    names = called(entries)
    axes = {key: labels(members[0].cell.axes) for key, members in configurations.items() if members[0].cell}
    for key, name in zip(axes, labelled(axes.values()), strict=True):
        names[key] = name or BETWEEN.join(axes[key].values()) or names[key]
    return _distinct(names, {key: members[0].run.path.name for key, members in configurations.items()})


def _arms(name: str, runs: Sequence[Played], bases: Mapping[str, TaskScores]) -> Iterator[Contender]:
    entries = [entry for one in runs for entry in one.entries if entry.matrix.reached]
    point, stages = min(entry.matrix.reached for entry in entries), len(entries[0].matrix.stream)
    by_arm: dict[Arm, dict[int, Entry]] = {}
    for entry in entries:
        by_arm.setdefault(entry.matrix.arm, {}).setdefault(entry.seed, entry)
    scores = {arm: {seed: _flat(entry.at(point)) for seed, entry in by_seed.items()} for arm, by_seed in by_arm.items()}
    for arm in (arm for arm in ARMS if arm in scores):
        yield Contender(
            name=name + (f" (after {point} of {stages})" if point < stages else "") + (harness(arm) if len(scores) > 1 else ""),
            arm=arm,
            scores=scores[arm],
            base={seed: bases[entry.run] for seed, entry in by_arm[arm].items() if entry.run in bases},
            plain=scores.get("plain", {}) if arm == "experience" else {},
            axes=labels(runs[0].cell.axes) if runs[0].cell else {},
            runs=[one.run.path.name for one in runs],
        )


def _flat(by_domain: ByDomain) -> TaskScores:
    return {(domain, task): score for domain, by_task in by_domain.items() for task, score in by_task.items()}


def _distinct(names: Mapping[str, str], folders: Mapping[str, str]) -> dict[str, str]:
    """Names that are there already have the folder of their first run after them."""
    found: dict[str, str] = {}
    for key, name in names.items():
        found[key] = f"{name} ({folders[key]})" if name in found.values() else name
    return found
