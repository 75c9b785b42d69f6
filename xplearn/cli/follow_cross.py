"""Showing a cross, finished or not, and following one that goes on."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.errors import RecordError
from xplearn.record.cross import NAME, Cross, load_cross
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from xplearn.record.following import Following

KILLED = "no process works on this cross: the same command goes on with it"


def finished(cross: Cross, folder: Path) -> list[Path]:
    """Run folders of the finished cells, in the order of the grid."""
    return list(dict.fromkeys(folder / cell.run for cell in cross.cells if cell.state == "finished" and cell.run))


def as_it_is(cross: Cross, folder: Path) -> tuple[Cross, bool]:
    """The cross with what is under way as interrupted where no process works on it any more; and whether that is so."""
    from xplearn.record.following import held

    killed = any(cell.state == "running" for cell in cross.cells) and not held(folder)
    if not killed:
        return cross, False
    cells = [replace(cell, state="waiting", reason="interrupted") if cell.state == "running" else cell for cell in cross.cells]
    return replace(cross, cells=cells), True


def summary(cross: Cross, folder: Path, console: Console) -> None:
    """Print the grid of scores, why cells are missing from it, and how many there are in each state."""
    from xplearn.cli.crossed import counted, render

    render(cross, folder, console)
    console.print(printable(counted(cross)), markup=False)


class CrossView:
    """A cross that goes on: its cells by state, what those under way are doing, and the scores so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamp: tuple[int, int] | None = None
        self._runs: dict[Path, Following] = {}
        self._drawn: tuple[object, RenderableType] = (None, "")
        self._killed = False
        self.refresh()

    def refresh(self) -> bool:
        changed = self._reread()
        before = {path: run.now for path, run in self._runs.items()}
        self._runs = dict(self._followed())
        return changed or before != {path: run.now for path, run in self._runs.items()}

    def picture(self, width: int) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        from xplearn.cli.crossed import counted
        from xplearn.report.live import doing

        lines = [f"{path.name}: {doing(run, time.time())}" for path, run in self._runs.items()]
        first = Text(printable(f"{self._folder.name}: {counted(self._cross)}"))
        return Group(first, *(Text(printable(line), style="bold") for line in lines), self._grid(width))

    def step(self) -> object:
        return self._stamp

    def over(self, *, ask: bool) -> bool:
        from xplearn.record.following import held

        ended = not any(cell.state in ("waiting", "running") for cell in self._cross.cells)
        self._killed = ask and not ended and not held(self._folder)
        return ended or self._killed

    def farewell(self, console: Console) -> None:
        summary(as_it_is(self._cross, self._folder)[0] if self._killed else self._cross, self._folder, console)
        if self._killed:
            console.print(KILLED, markup=False)

    def _grid(self, width: int) -> RenderableType:
        """The scores, drawn anew when a cell has ended."""
        from rich.console import Console
        from rich.text import Text

        from xplearn.cli.crossed import render

        if self._drawn[0] != (self._stamp, width):
            paper = io.StringIO()
            render(self._cross, self._folder, Console(width=width, highlight=False, emoji=False, file=paper))
            self._drawn = (self._stamp, width), Text(paper.getvalue().rstrip(), no_wrap=True)
        return self._drawn[1]

    def _reread(self) -> bool:
        try:
            found = (self._folder / NAME).stat()
        except OSError:
            raise RecordError(self._folder, "is gone: it was removed while it was followed") from None
        stamp = found.st_mtime_ns, found.st_ino
        if stamp == self._stamp:
            return False
        self._stamp, self._cross = stamp, load_cross(self._folder)
        return True

    def _followed(self) -> Iterator[tuple[Path, Following]]:
        """Each run under way, read on from where it was: as many as there are such cells, of those that told last what they do."""
        from xplearn.record import now
        from xplearn.record.following import Following

        cells = sum(cell.state == "running" for cell in self._cross.cells)
        told = {path.parent: found.at for path in self._folder.glob(f"*/{now.NAME}") if (found := now.read_now(path.parent))}
        for path in sorted(sorted(told, key=lambda path: -told[path])[:cells]):
            with contextlib.suppress(RecordError, OSError):  # it may just begin or end
                run = self._runs.get(path) or Following(path)
                run.refresh()
                yield path, run
