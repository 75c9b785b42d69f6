"""Carrying a cross out: cell by cell, or several at once; calling it again goes on where it stopped."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from xplearn.experiment.cross.cell import Outcome
from xplearn.experiment.cross.file import CrossFile, Source, read_cross
from xplearn.experiment.cross.grid import build_grid
from xplearn.experiment.cross.jobs import Here, Jobs, Runner
from xplearn.experiment.cross.kept import Kept
from xplearn.experiment.cross.ledger import Ledger, finished, locked, recorded
from xplearn.experiment.cross.order import Budget, Queue, expected
from xplearn.experiment.cross.planned import Planned
from xplearn.experiment.cross.watched import CrossObserver, SilentCross
from xplearn.plugins import Plugins
from xplearn.record.cross import Cell, Cross


@dataclass(frozen=True, kw_only=True)
class CrossResult:
    """A cross as one call left it."""

    folder: Path
    cross: Cross

    @property
    def cells(self) -> Sequence[Cell]:
        """In the order of the grid."""
        return self.cross.cells


def plan(file: CrossFile, plugins: Plugins) -> list[Planned]:
    """The cells of a cross, each with its experiment; nothing is written or played.

    Raises:
        ConfigError: something in the file is wrong.
    """
    return build_grid(file, plugins, lambda cell: finished(file.folder / cell.folder), Kept(file.folder, plugins).placed)


def run_cross(source: Source, *, plugins: Plugins, budget: Budget | None = None, observer: CrossObserver | None = None) -> CrossResult:
    """Run the cells of a cross that are sound and not finished, in order of priority and as far as the budget allows.

    A cell that raises is ``failed``, and the next one is run; calling this again tries it once more. Where no cell is sound nothing is
    written.

    Args:
        source: path of a cross file, or the mapping that it holds.
        plugins: where parts are found; cells that are run at once have the installed ones.
        budget: of this call; without limits if left out.
        observer: who is told about progress.

    Raises:
        ConfigError: something in the file is wrong; nothing was run.
        RecordError: another process runs this cross, or its folder cannot be used.
    """
    budget, watching = budget or Budget(), observer or SilentCross()
    file = read_cross(source, plugins.registry)
    with locked(file.folder) as lock:
        grid = plan(file, plugins)
        ledger = Ledger(file, grid, recorded(file.folder))
        if not any(cell.runs for cell in grid):
            return CrossResult(folder=file.folder, cross=ledger.cross)
        notes = [*file.notes, *ledger.left_alone()]
        ledger.keep()
        for note in notes:
            watching.note(note)
        runner: Runner = Here(file.folder, plugins, watching) if budget.jobs == 1 else Jobs(file.folder, budget.jobs, lock)
        queue = Queue(file, ledger.open(), budget, lambda cell: expected(cell, ledger.cross.cells), ledger.failed())
        with runner, _Walk(ledger, runner, watching) as walk:
            walk.through(queue, budget.jobs)
    return CrossResult(folder=file.folder, cross=ledger.cross)


class _Walk:
    """Takes cells from a queue to their end; what is under way when the block ends is noted as interrupted."""

    def __init__(self, ledger: Ledger, runner: Runner, watching: CrossObserver) -> None:
        self._ledger, self._runner, self._watching = ledger, runner, watching
        self._since: dict[str, float] = {}
        cells = ledger.cross.cells
        self._done = sum(cell.state == "finished" for cell in cells)
        self._total = self._done + len(ledger.open())

    def __enter__(self) -> _Walk:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for id, since in self._since.items():
            self._ledger.mark(id, "waiting", "interrupted", time.monotonic() - since)

    def through(self, queue: Queue, jobs: int) -> None:
        """Run the cells of a queue, so many at once."""
        running: dict[Future[Outcome], Planned] = {}
        while True:
            while len(running) < jobs and (cell := queue.next(running.values())) is not None:
                running[self._begin(cell)] = cell
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                self._end(running.pop(future), future.result())

    def _begin(self, cell: Planned) -> Future[Outcome]:
        self._since[cell.id] = time.monotonic()
        self._watching.cell_start(self._ledger.mark(cell.id, "running"))
        return self._runner.submit(cell)

    def _end(self, cell: Planned, outcome: Outcome) -> None:
        seconds = time.monotonic() - self._since.pop(cell.id)
        self._done += 1
        ended = self._ledger.mark(cell.id, "failed" if outcome.reason else "finished", outcome.reason, seconds)
        self._watching.cell_end(ended, self._ledger.folder / ended.run, self._done, self._total)
        if outcome.taken:
            self._watching.taken(ended, outcome.taken)
        if outcome.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
