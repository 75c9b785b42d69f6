"""Which cell is run next: priority, the budget, and what had better not be played at the same moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

from xplearn.errors import ConfigError
from xplearn.experiment.cross.axes import SEED, matches
from xplearn.experiment.cross.file import CrossFile
from xplearn.experiment.cross.planned import Planned
from xplearn.record.cross import Cell

Rank = tuple[bool, int, int]
"""Whether the cell failed before, number of the first pattern of ``first`` that matches, then that of the seed: less is run earlier."""


def rank(file: CrossFile, cell: Planned, *, failed: bool) -> Rank:
    """Where a cell stands; cells of one rank keep the order of the grid.

    One that failed before is tried again when no other waits: it may fail each time, and a small budget is not to be spent on it alone.
    """
    pattern = next((number for number, pattern in enumerate(file.first) if matches(pattern, cell.axes)), len(file.first))
    seeds = next((list(axis.values) for axis in file.axes if axis.name == SEED), [])
    return failed, pattern, seeds.index(cell.axes[SEED]) if seeds else 0


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What one call may spend."""

    minutes: float | None = None
    """No cell begins after so many minutes, nor one that would go on past them, as far as that is known; None for no limit."""
    cells: int | None = None
    """At most so many cells are run; None for no limit."""
    jobs: int = 1
    """Cells at once. One is run in this process, several in processes of their own, with one thread each."""

    def __post_init__(self) -> None:
        if self.minutes is not None and not 0 < self.minutes < float("inf"):
            raise ConfigError("minutes", f"is {self.minutes}; want a positive, finite number")
        for name, value in (("cells", self.cells), ("jobs", self.jobs)):
            if value is not None and value < 1:
                raise ConfigError(name, f"is {value}; want at least 1")


class Queue:
    """The cells that wait, in order.

    Args:
        file: says what comes first.
        cells: to be run.
        budget: of this call; its time begins now.
        expected: seconds that a cell will take, None where nothing is known.
        failed: ids of cells that failed before.
        clock: tells the time, in seconds.
    """

    def __init__(
        self,
        file: CrossFile,
        cells: Sequence[Planned],
        budget: Budget,
        expected: Callable[[Planned], float | None],
        failed: Collection[str] = (),
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._ranks = {cell.id: rank(file, cell, failed=cell.id in failed) for cell in cells}
        self._waiting = sorted(cells, key=lambda cell: self._ranks[cell.id])
        self._budget, self._expected = budget, expected
        self._clock = clock or time.monotonic
        self._began, self._begun = self._clock(), 0

    @property
    def waiting(self) -> Sequence[Planned]:
        """The cells that were not taken, in order."""
        return self._waiting

    def next(self, running: Collection[Planned]) -> Planned | None:
        """Take the next cell, None where none waits or the budget is spent.

        Among cells of one rank, one on another stream than those under way is preferred: what cells of a stream share is then there.
        """
        if self._begun == self._budget.cells:
            return None
        fitting = filter(self._fits, self._waiting)
        first = next(fitting, None)
        if first is None:
            return None
        busy = {cell.stream for cell in running}
        equals = takewhile(lambda cell: self._ranks[cell.id] == self._ranks[first.id], chain([first], fitting))
        chosen = next((cell for cell in equals if cell.stream not in busy), first)
        self._waiting.remove(chosen)
        self._begun += 1
        return chosen

    def _fits(self, cell: Planned) -> bool:
        """Whether there is time left for a cell; the first of a call begins in any case, or it never would."""
        if self._budget.minutes is None:
            return True
        left = 60.0 * self._budget.minutes - (self._clock() - self._began)
        return left > 0 and (not self._begun or (self._expected(cell) or 0.0) <= left)


def expected(cell: Planned, cells: Collection[Cell]) -> float | None:
    """Seconds that a cell will take: the mean of the finished ones that share most labels with it; None before any is finished."""
    known = [(sum(other.axes[axis] == label for axis, label in cell.axes.items()), other) for other in cells if other.state == "finished"]
    most = max((shared for shared, _ in known), default=0)
    seconds = [other.seconds for shared, other in known if shared == most]
    return sum(seconds) / len(seconds) if seconds else None
