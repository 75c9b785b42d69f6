"""What a cross would do, counted without playing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xplearn.errors import XplearnError
from xplearn.experiment.cross.file import Source, read_cross
from xplearn.experiment.cross.ledger import Ledger, recorded
from xplearn.experiment.cross.order import Budget, Queue, expected
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
    begins: bool = True
    """Whether the budget lets it begin, as far as times are known."""


def preview(source: Source, plugins: Plugins, budget: Budget | None = None) -> tuple[Cross, Sequence[Ahead], Sequence[str]]:
    """Every cell as it stands, those that are there to be run in the order they would be, and lines to tell. Nothing is written.

    Cells for which the budget has no room stand last; one whose time is not known is taken to need none.

    Raises:
        ConfigError: something in the file is wrong.
        RecordError: the folder holds a cross that cannot be read, or a run.
    """
    file = read_cross(source, plugins.registry)
    ledger = Ledger(file, plan(file, plugins), recorded(file.folder))
    counter = _Counter(plugins)
    budget, clock = budget or Budget(), _Clock()
    seconds = {cell.id: expected(cell, ledger.cross.cells) for cell in ledger.open()}
    queue = Queue(file, ledger.open(), budget, lambda cell: seconds[cell.id], ledger.failed(), clock=lambda: clock.now)
    begun = _begun(queue, budget.jobs, clock, lambda cell: seconds[cell.id] or 0.0)
    ahead = [
        Ahead(cell=ledger[cell.id], episodes=counter.episodes(cell), seconds=seconds[cell.id], begins=begins)
        for cells, begins in ((begun, True), (queue.waiting, False))
        for cell in cells
    ]
    return ledger.cross, ahead, [*file.notes, *ledger.left_alone()]


@dataclass
class _Clock:
    now: float = 0.0


def _begun(queue: Queue, jobs: int, clock: _Clock, seconds: Callable[[Planned], float]) -> list[Planned]:
    """The cells that would be taken from a queue, so many at once, each for so long."""
    begun: list[Planned] = []
    running: list[tuple[float, Planned]] = []
    while True:
        while len(running) < jobs and (cell := queue.next([other for _, other in running])) is not None:
            running.append((clock.now + seconds(cell), cell))
            begun.append(cell)
        if not running:
            return begun
        ended = min(running, key=lambda item: item[0])
        running.remove(ended)
        clock.now = ended[0]


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
