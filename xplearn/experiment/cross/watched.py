"""Who watches a cross."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from xplearn.experiment.observer import Observer, Silent
from xplearn.record.cross import Cell


class CrossObserver(Protocol):
    """Progress for a person; cells nest where several are run at once."""

    def cell_start(self, cell: Cell, done: int, total: int) -> None:
        """A cell begins; ``done`` of ``total`` cells lie behind or are under way."""

    def cell_end(self, cell: Cell, run: Path, done: int, total: int) -> None:
        """A cell ended, finished or failed; its run, where there is one, lies in a folder."""

    def note(self, text: str) -> None:
        """One line worth reading."""

    def inside(self) -> AbstractContextManager[Observer]:
        """Who is told about the progress of a single cell that is run in this process."""


class SilentCross:
    """Watches nothing."""

    def cell_start(self, cell: Cell, done: int, total: int) -> None: ...
    def cell_end(self, cell: Cell, run: Path, done: int, total: int) -> None: ...
    def note(self, text: str) -> None: ...
    def inside(self) -> AbstractContextManager[Observer]:
        return nullcontext(Silent())
