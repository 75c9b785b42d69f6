"""Progress of long work: a live bar on a terminal, lines elsewhere. Always on standard error."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from xplearn.report.printable import printable


class LiveObserver:
    """A bar per phase, with rate, remaining time and latest figures."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=12),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}", style="dim", markup=False),
            console=Console(stderr=True, highlight=False, emoji=False),
        )
        self._task: int | None = None

    def __enter__(self) -> LiveObserver:
        self._progress.start()
        self.phase_start(SETTING_UP, 1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def phase_start(self, name: str, total: int) -> None:
        if self._task is not None:
            self.advance(1)
            self.phase_end()
        self._task = self._progress.add_task(printable(name), total=total, rate="", figures="")

    def advance(self, n: int = 1, **figures: float) -> None:
        if self._task is None:
            return
        task = self._progress.tasks[self._task]
        speed = task.speed
        rate = f"{speed:.2f}/s" if speed else ""
        self._progress.update(task.id, advance=n, rate=rate, figures=_figures(figures) or task.fields["figures"])

    def phase_end(self) -> None:
        if self._task is not None:
            self._progress.stop_task(self._progress.tasks[self._task].id)
        self._task = None

    def note(self, text: str) -> None:
        self._progress.console.print(printable(text), markup=False)


SETTING_UP = "setting up"
"""Phase before the first: imports, weights, environments."""


class SilentObserver:
    """Says nothing but notes."""

    def __enter__(self) -> SilentObserver:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def phase_start(self, name: str, total: int) -> None:
        pass

    def advance(self, n: int = 1, **figures: float) -> None:
        pass

    def phase_end(self) -> None:
        pass

    def note(self, text: str) -> None:
        print(printable(text), file=sys.stderr, flush=True)


class QuietObserver(SilentObserver):
    """One line when a phase ends, and one a minute while it lasts, whether or not anything was done in that minute."""

    every_seconds = 60.0

    def __init__(self) -> None:
        self._name, self._total, self._done, self._figures, self._began = "", 0, 0, "", 0.0
        self._ended = threading.Event()

    def __enter__(self) -> QuietObserver:
        self.phase_start(SETTING_UP, 1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()

    def phase_start(self, name: str, total: int) -> None:
        self._ended.set()
        self._name, self._total, self._done, self._figures = name, total, 0, ""
        self._began, self._ended = time.monotonic(), threading.Event()
        threading.Thread(target=self._beat, args=(self._ended,), daemon=True).start()

    def advance(self, n: int = 1, **figures: float) -> None:
        self._done += n
        self._figures = _figures(figures) or self._figures

    def phase_end(self) -> None:
        if not self._ended.is_set():
            self._ended.set()
            self.note(f"{self._name}: {self._done}/{self._total} in {time.monotonic() - self._began:.1f} s  {self._figures}".rstrip())

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(self.every_seconds):
            spent = time.monotonic() - self._began
            left = f", about {spent / self._done * max(self._total - self._done, 0):.0f} s left" if self._done else ""
            self.note(f"{self._name}: {self._done}/{self._total} in {spent:.0f} s{left}  {self._figures}".rstrip())


def observer(quiet: bool) -> LiveObserver | SilentObserver:
    """The observer that suits whoever is watching."""
    if quiet:
        return SilentObserver()
    return LiveObserver() if sys.stderr.isatty() else QuietObserver()


def _figures(figures: dict[str, float]) -> str:
    return "  ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in figures.items())
