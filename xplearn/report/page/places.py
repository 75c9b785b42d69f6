"""Where a run stands in drawings that have a panel for each: its configuration down, what it was evaluated on across."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from xplearn.metrics.seeds import called
from xplearn.report.contenders import SEED, cells, labelled, labels
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.metrics.compare import Entry
    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run

T = TypeVar("T")


class Place(NamedTuple):
    """Where a run stands."""

    row: str
    column: str
    name: str
    """Of its configuration, as leaderboards have it: said where a panel stands in no table."""


Table = Mapping[str, Mapping[str, list[T]]]
"""Values of the runs of a place, which differ in their seed, by row and column."""


def places(runs: Mapping[str, Run], entries: Sequence[Entry], cross: Cross | None) -> dict[str, Place]:
    """The place by name of the run; runs that differ in their seed only have one place.

    Args:
        runs: by what a page calls them.
        entries: their arms, by the same names.
        cross: that they belong to, whose labels say more than names.
    """
    members: dict[str, list[Entry]] = {}
    for entry in entries:
        members.setdefault(entry.configuration, []).append(entry)
    titles = called(members)
    own = {entry.run: titles[entry.configuration] for entry in entries}
    if cross is not None:
        return _by_labels(runs, own, cross)
    return {name: Place(own.get(name, name), _domains(run), own.get(name, name)) for name, run in runs.items()}


def placed(values: Mapping[str, T], of: Mapping[str, Place]) -> Table[T]:
    """Values by name of the run, by their places."""
    found: dict[str, dict[str, list[T]]] = {}
    for name, value in values.items():
        row, column, _ = of[name]
        found.setdefault(row, {}).setdefault(column, []).append(value)
    return found


def names(of: Iterable[Place]) -> dict[tuple[str, str], str]:
    """What a panel is called where it stands in no table, by its row and column."""
    return {(row, column): name for row, column, name in of}


def hints(runs: Mapping[str, Run], cross: Cross | None) -> dict[str, str]:
    """What tells each run from the others of its domains, shortly: labels that differ among them, seeds too; its name where none does."""
    by_folder = cells(cross)
    alike: dict[str, dict[str, Mapping[str, str]]] = {}
    for name, run in runs.items():
        if run.path.name in by_folder:
            axes = by_folder[run.path.name].axes
            told = {axis: f"seed {label}" if axis in SEED else label for axis, label in axes.items()}
            alike.setdefault(_domains(run), {})[name] = told
    found = {name: hint for of in alike.values() for name, hint in zip(of, labelled(of.values()), strict=True)}
    return {name: printable(found.get(name) or name) for name in runs}


def _by_labels(runs: Mapping[str, Run], own: Mapping[str, str], cross: Cross) -> dict[str, Place]:
    by_folder = cells(cross)
    found = {name: by_folder[run.path.name] for name, run in runs.items() if run.path.name in by_folder}
    whole = [labels(cell.axes) for cell in found.values()]
    down = [{axis: label for axis, label in of.items() if axis != cross.column} for of in whole]
    places = {name: Place(name, _domains(run), name) for name, run in runs.items()}
    for (name, cell), label, row in zip(found.items(), labelled(whole), labelled(down), strict=True):
        called = printable(label or own.get(name, name))
        places[name] = Place(printable(row) or called, _column(runs[name], cell.axes, cross.column), called)
    return places


def _column(run: Run, axes: Mapping[str, str], axis: str) -> str:
    return printable(axes[axis]) if axis in axes and axis not in SEED else _domains(run)


def _domains(run: Run) -> str:
    return printable(", ".join(sorted(run.header.panels)))
