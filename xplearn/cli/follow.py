"""Following a run or a cross until it is over, without touching it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

KILLED = "it says that it is running, and no process works on it: it was killed; the same command goes on with it"

SECONDS = 1.0
"""Between one look and the next."""

QUIET_SECONDS = 5.0
"""Without news before it is asked whether anybody still works."""


class View(Protocol):
    """What is followed."""

    def refresh(self) -> bool:
        """Read what is new; whether there was anything."""

    def picture(self, width: int) -> RenderableType:
        """As it stands."""

    def step(self) -> object:
        """What it is at: where nothing can be drawn over, it is drawn once for each."""

    def over(self, *, ask: bool) -> bool:
        """Whether nothing more is to come; with ``ask``, also whether nobody works on it."""

    def farewell(self, console: Console) -> None:
        """Print how it ended."""


class RunView:
    """A run."""

    def __init__(self, folder: Path) -> None:
        from xplearn.record.following import Following
        from xplearn.report.live import LiveRun

        self._run = Following(folder)
        self._live = LiveRun(self._run)
        self._killed = False

    def refresh(self) -> bool:
        return self._live.refresh()

    def picture(self, width: int) -> RenderableType:
        return self._live.picture(width)

    def step(self) -> object:
        return self._run.now and self._run.now.phase, len(self._run.calls()), list(self._run.header.bank)

    def over(self, *, ask: bool) -> bool:
        self._killed = ask and self._run.killed
        return self._killed or self._run.header.status != "running"

    def farewell(self, console: Console) -> None:
        from xplearn.report import text

        self._run.refresh()
        text.render(self._run, console)
        if self._killed:
            console.print(KILLED)


def follow(view: View, console: Console) -> int:
    """Show it until it is over.

    Returns:
        Exit status: 0, also where a person leaves before.
    """
    quiet = QUIET_SECONDS
    try:
        with _shown(console, view) as show:
            while True:
                quiet = 0.0 if view.refresh() else quiet + SECONDS
                show()
                if view.over(ask=quiet >= QUIET_SECONDS):
                    break
                time.sleep(SECONDS)
    except KeyboardInterrupt:
        console.print("\nno longer followed; it goes on", style="dim")
        return 0
    view.farewell(console)
    return 0


@contextlib.contextmanager
def _shown(console: Console, view: View) -> Iterator[Callable[[], None]]:
    """How one look is shown: over the last one on a terminal, below it elsewhere and only where something new began."""
    from rich.live import Live

    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            yield lambda: live.update(view.picture(console.width), refresh=True)
        return
    drawn: list[object] = []

    def below() -> None:
        if drawn != [view.step()]:
            drawn[:] = [view.step()]
            console.print(view.picture(console.width))
            console.file.flush()

    yield below
