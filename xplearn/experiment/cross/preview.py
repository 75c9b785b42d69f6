"""What a cross would do, counted without playing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xplearn.errors import XplearnError
from xplearn.experiment.cross.file import Source
from xplearn.experiment.cross.ledger import Ledger, recorded
from xplearn.experiment.cross.order import expected, rank
from xplearn.experiment.cross.planned import Planned
from xplearn.experiment.cross.run import read_plan
from xplearn.experiment.estimate import count
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


def preview(source: Source, plugins: Plugins) -> tuple[Cross, Sequence[Ahead]]:
    """Every cell as it stands, and those that are there to be run in the order they would be. Nothing is written.

    Raises:
        ConfigError: something in the file is wrong.
        RecordError: the folder holds a cross that cannot be read, or a run.
    """
    file, grid = read_plan(source, plugins)
    ledger = Ledger(file, grid, recorded(file.folder))
    ordered = sorted(ledger.open(), key=lambda cell: rank(file, cell))
    cells = ledger.cross.cells
    ahead = [Ahead(cell=ledger[cell.id], episodes=_episodes(cell, plugins), seconds=expected(cell, cells)) for cell in ordered]
    return ledger.cross, ahead


def _episodes(cell: Planned, plugins: Plugins) -> int | None:
    try:
        return sum(count(cell.experiment, plugins).phases.values()) if cell.experiment else None
    except XplearnError:
        return None
