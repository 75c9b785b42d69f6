"""A run while it goes on: read once, then only what is appended."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from xplearn.errors import RecordError
from xplearn.record.folder import RunFolder
from xplearn.record.formats import load_result
from xplearn.record.header import read_header
from xplearn.record.history import Call, load_call
from xplearn.record.lines import parsed
from xplearn.record.now import Now, read_now
from xplearn.record.reader import Run, load_figures
from xplearn.types import EpisodeResult

T = TypeVar("T")


class Tail(Generic[T]):
    """The whole lines of a file that grows, parsed.

    Args:
        path: of the file; it need not be there yet.
        parse: one line.
    """

    def __init__(self, path: Path, parse: Callable[[str], T]) -> None:
        self.lines: list[T] = []
        self._path, self._parse, self._end = path, parse, 0

    def refresh(self) -> bool:
        """Read what was appended; whether there was anything. A file that became shorter is read anew: its end was taken back.

        Raises:
            RecordError: a whole line cannot be parsed.
        """
        size = self._path.stat().st_size if self._path.exists() else 0
        if size < self._end:
            self.lines, self._end = [], 0
        before = self._end
        if size > before:
            with self._path.open("rb") as file:
                file.seek(before)
                for line in file:
                    if not line.endswith(b"\n"):
                        break
                    self.lines.append(parsed(self._path, len(self.lines) + 1, line, self._parse))
                    self._end += len(line)
        return self._end != before


class Following(Run):
    """A recorded run that may go on: what it says is as fresh as the last ``refresh``.

    Args:
        folder: of the run.

    Raises:
        RecordError: it is not a run folder, is damaged, or a newer xplearn wrote it.
    """

    def __init__(self, folder: Path) -> None:
        place = RunFolder(folder)
        super().__init__(place, read_header(place.header))
        self.now: Now | None = None
        """What it is doing; None where nothing says so."""
        self._stamp = (0, 0)
        self._episodes = Tail(place.episodes, load_result)
        self._learned = Tail(place.metrics, lambda line: (load_figures(line), load_call(line)))
        self.refresh()

    def refresh(self) -> bool:
        """Read what is new; whether there was anything but progress inside a phase.

        Raises:
            RecordError: a file is damaged, or the run is gone: it was removed, or could not begin.
        """
        self.now = read_now(self.path)
        return any([self._reread(), self._episodes.refresh(), self._learned.refresh()])

    def episodes(self) -> Iterator[EpisodeResult]:
        return iter(self._episodes.lines)

    def latest(self) -> Iterator[EpisodeResult]:
        """The scalars of every finished episode, the last first."""
        return reversed(self._episodes.lines)

    def scalars(self) -> list[dict[str, Any]]:
        return list(dict(figures for figures, _ in self._learned.lines).values())

    def calls(self) -> list[Call]:
        return [call for _, call in self._learned.lines if call is not None]

    @property
    def killed(self) -> bool:
        """Whether it says that it is running, and no process holds it."""
        return self.header.status == "running" and not held(self.path)

    def _reread(self) -> bool:
        try:
            found = os.stat(self._folder.header)
        except OSError:
            raise RecordError(self.path, "is gone: it was removed, or its run could not begin") from None
        stamp = found.st_mtime_ns, found.st_ino
        if stamp == self._stamp:
            return False
        self._stamp, self.header = stamp, read_header(self._folder.header)
        return True


def held(folder: Path) -> bool:
    """Whether a process holds the lock of a run, or of a cross; in doubt it does.

    The lock is taken for a moment to find out: ask rarely, and not where one may just be starting.
    """
    try:
        with (folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
