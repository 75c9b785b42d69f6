"""What the sections of a page are made from, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.errors import RecordError
from xplearn.report import compare
from xplearn.report.boards import across, boards
from xplearn.report.contenders import BETWEEN, cells, labels
from xplearn.report.costs import Spendings, costs, stored
from xplearn.report.page.once import Once
from xplearn.report.page.places import Place, places
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from xplearn.metrics.board import Board
    from xplearn.metrics.compare import Entry
    from xplearn.metrics.spending import Upkeep
    from xplearn.record.cross import Cell, Cross
    from xplearn.record.reader import Run
    from xplearn.reported import Reported
    from xplearn.types import EpisodeResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Runs, and what is known of them; every mapping is by the name that the page calls a run."""

    runs: Mapping[str, Run]
    results: Mapping[str, Sequence[EpisodeResult]]
    cross: Cross | None
    place: Path | None
    """Folder of the cross."""
    everywhere: Board | None
    """The board across the others."""
    boards: Sequence[Board]
    """One for each panel of tasks."""
    refused: Sequence[tuple[str, str]]
    """Runs that have no place in any board, and why."""
    entries: Sequence[Entry]
    """Each arm of each run."""
    places: Mapping[str, Place]
    """Row and column in drawings that have a panel for each configuration."""
    spendings: Mapping[str, Spendings]
    upkeeps: Mapping[str, Upkeep]
    stored: Mapping[str, int | None]
    """Bytes of each bank on disk."""
    reported: Sequence[Reported]
    """Figures of papers."""


def gather(
    runs: Sequence[Run], cross: Cross | None, place: Path | None, reported: Sequence[Reported], unread: Sequence[tuple[str, str]]
) -> Material:
    """Read what there is; a run among others that turns out to be damaged is left out, and named with the reason.

    Args:
        runs: finished or not.
        cross: they belong to.
        place: folder of the cross.
        reported: figures of papers.
        unread: folders that could not be read, and why.

    Raises:
        RecordError: the one run, or all of several, are damaged; there is no cross that could be shown without them.
    """
    read: dict[str, _Read] = {}
    lost = []
    by_folder = cells(cross)
    for called, run in zip(compare.names(runs), runs, strict=True):
        cell = by_folder.get(run.path.name)
        name = printable(cell.id) if cell else called
        try:
            read[name] = _Read(name, Once(run), cell)
        except RecordError as error:
            lost.append((name, str(error)))
            if len(lost) == len(runs) and cross is None:
                raise
    those = {name: of.run for name, of in read.items()}
    found, apart = boards(list(those.values()), cross)
    entries = [entry for of in read.values() for entry in of.entries]
    return Material(
        runs=those,
        results={name: of.results for name, of in read.items()},
        cross=cross,
        place=place,
        everywhere=across(found),
        boards=_titled(found, cross),
        refused=[*((one.run, one.reason) for one in apart), *lost, *unread],
        entries=entries,
        places=places(those, entries, cross),
        spendings={name: of.spending for name, of in read.items()},
        upkeeps={name: of.upkeep for name, of in read.items()},
        stored={name: stored(of.run) for name, of in read.items()},
        reported=reported,
    )


def _titled(found: Sequence[Board], cross: Cross | None) -> list[Board]:
    """Boards by the label of the cross's column where each has one of its own."""
    told = [{standing.contender.axes.get(cross.column, "") for standing in board.standings} for board in found] if cross else []
    titles = [printable(next(iter(labels))) for labels in told if len(labels) == 1]
    if len(set(titles)) < len(found) or not all(titles):
        return list(found)
    return [replace(board, title=title) for board, title in zip(found, titles, strict=True)]


class _Read:
    """One run's share."""

    def __init__(self, name: str, run: Once, cell: Cell | None) -> None:
        self.run = run
        self.results = run.results
        self.studies = run.studies
        entries = compare.entries([run])
        title = printable(BETWEEN.join(labels(cell.axes).values())) if cell else ""
        self.entries = [replace(entry, run=name, title=title or entry.title) for entry in entries]
        self.spending, self.upkeep = costs(run, self.results)
