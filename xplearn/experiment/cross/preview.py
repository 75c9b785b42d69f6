"""What a cross would do, counted without playing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xplearn.errors import XplearnError
from xplearn.experiment.cross.file import Source, read_cross
from xplearn.experiment.cross.ledger import Ledger, recorded
from xplearn.experiment.cross.order import expected, rank
from xplearn.experiment.cross.planned import Planned
from xplearn.experiment.cross.run import plan
from xplearn.experiment.estimate import Listing, count, listing
from xplearn.plugins import Plugins
from xplearn.record.cross import Cell, Cross


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """A cell that is there to be run."""

    cell: Cell
    episodes: int | None
    """It plays or is shown, at most: what cells share is played once. None where that cannot be counted."""
    seconds: float | None
    """As long as finished cells with most of its labels took; None before any is finished."""


def preview(source: Source, plugins: Plugins) -> tuple[Cross, Sequence[Ahead], Sequence[str]]:
    """Every cell as it stands, those that are there to be run in the order they would be, and lines to tell. Nothing is written.

    Raises:
        ConfigError: something in the file is wrong.
        RecordError: the folder holds a cross that cannot be read, or a run.
    """
    file = read_cross(source, plugins.registry)
    ledger = Ledger(file, plan(file, plugins), recorded(file.folder))
    counter = _Counter(plugins)
    failed = ledger.failed()
    ordered = sorted(ledger.open(), key=lambda cell: rank(file, cell, failed=cell.id in failed))
    cells = ledger.cross.cells
    ahead = [Ahead(cell=ledger[cell.id], episodes=counter.episodes(cell), seconds=expected(cell, cells)) for cell in ordered]
    return ledger.cross, ahead, ledger.left_alone()


class _Counter:
    """Counts episodes; the tasks of a stream, which are dear to list, are listed once."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._tasks: dict[str, Listing] = {}

    def episodes(self, cell: Planned) -> int | None:
        """Episodes of a cell."""
        if cell.experiment is None:
            return None
        try:
            if cell.stream not in self._tasks:
                self._tasks[cell.stream] = listing(cell.experiment, self._plugins)
            return sum(count(cell.experiment, self._plugins, self._tasks[cell.stream]).phases.values())
        except XplearnError:
            return None
