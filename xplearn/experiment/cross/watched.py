"""Who watches a cross."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from xplearn.experiment.observer import Observer, Silent
from xplearn.record.cross import Cell


class CrossObserver(Protocol):
    """Progress for a person; cells nest where several are run at once."""

    def cell_start(self, cell: Cell) -> None:
        """A cell begins."""

    def cell_end(self, cell: Cell, run: Path, done: int, total: int) -> None:
        """A cell ended, finished or failed, as number ``done`` of ``total``; its run, where there is one, lies in a folder."""

    def taken(self, cell: Cell, what: str) -> None:
        """What of a cell that just ended others had done before, e.g. ``8 episodes``."""

    def note(self, text: str) -> None:
        """One line worth reading."""

    def inside(self) -> AbstractContextManager[Observer]:
        """Who is told about the progress of a single cell that is run in this process."""


class SilentCross:
    """Watches nothing."""

    def cell_start(self, cell: Cell) -> None: ...
    def cell_end(self, cell: Cell, run: Path, done: int, total: int) -> None: ...
    def taken(self, cell: Cell, what: str) -> None: ...
    def note(self, text: str) -> None: ...
    def inside(self) -> AbstractContextManager[Observer]:
        return nullcontext(Silent())
