"""Telling whoever follows a run from another terminal what it is doing."""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

from xplearn.experiment.observer import Observer
from xplearn.record.now import NAME, Now


class Telling:
    """Passes everything on to an observer, and keeps what is under way in ``now.json`` until closed.

    A file that cannot be written disturbs nothing.
    """

    every_seconds = 1.0
    """Progress inside a phase is written no more often."""

    def __init__(self, observer: Observer, folder: Path) -> None:
        self._observer = observer
        self._path = folder / NAME
        self._now = Now(phase="", total=0, began=0.0, at=0.0)
        self._written = 0.0

    def phase_start(self, name: str, total: int) -> None:
        self._observer.phase_start(name, total)
        began = time.time()
        self._tell(Now(phase=name, total=total, began=began, at=began))

    def advance(self, n: int = 1, **figures: float) -> None:
        self._observer.advance(n, **figures)
        latest = {name: float(value) for name, value in figures.items() if math.isfinite(value)}
        self._now = replace(self._now, done=self._now.done + n, figures=latest or self._now.figures)
        if time.monotonic() - self._written >= self.every_seconds:
            self._tell(self._now)

    def phase_end(self) -> None:
        self._observer.phase_end()
        self._tell(replace(self._now, ended=True))

    def note(self, text: str) -> None:
        self._observer.note(text)

    def close(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _tell(self, now: Now) -> None:
        self._now, self._written = replace(now, at=time.time()), time.monotonic()
        fresh = self._path.with_name(f".{NAME}.tmp")
        with contextlib.suppress(OSError):
            fresh.write_text(json.dumps(asdict(self._now)), encoding="utf-8")
            os.replace(fresh, self._path)
