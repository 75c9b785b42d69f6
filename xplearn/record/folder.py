"""One run's folder: where everything lies, and who may write to it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from xplearn.errors import RecordError
from xplearn.files import refusal

UNHASHED = ("dir", "batch", "workers", "step_seconds", "track")
"""Keys of ``run`` that cannot change a result: the same folder goes on with other values."""


class RunFolder:
    """Paths inside ``runs/<name>-<hash>/``, and the lock that keeps a second process out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header = path / "run.json"
        self.episodes = path / "episodes.jsonl"
        self.metrics = path / "metrics.jsonl"
        self.history = path / "history.jsonl"
        self.checkpoints = path / "checkpoints"
        self.bank = path / "bank"
        self.studies = path / "study"
        self.trackers = path / "trackers"
        self._lock: BinaryIO | None = None
        self._new = False

    def trajectories(self, phase: str) -> Path:
        """The trajectories of a phase; its name may hold slashes."""
        return self.path / "trajectories" / f"{quote(phase, safe='/#')}.jsonl"

    def study(self, stage: int, round: int) -> Path:
        """Which trajectories a round was trained on."""
        return self.studies / f"{stage}-{round}.json"

    def acquire(self) -> None:
        """Take the lock, for the life of this process or until ``release``.

        Raises:
            RecordError: another process has it, the folder cannot be written, or it holds a run that has lost its header.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("ab")
        except OSError as error:
            raise RecordError(self.path, f"cannot be written ({refusal(error)}); choose another place with run.dir") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise RecordError(self.path, "another process is running this experiment; wait for it, or change run.name") from None
        self._new = not self.header.exists()
        if self._new and any(map(_holds_something, self._recorded())):
            lock.close()
            raise RecordError(self.path, "holds remains of a run but no run.json; put run.json back, or remove the run folder")
        self._lock = lock

    def release(self) -> None:
        """Give the lock back. A new folder without a header, in which no run ever began, is removed. May be called twice."""
        if self._lock is None:
            return
        if self._new and not self.header.exists():
            self._clear()
            (self.path / "lock").unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.path.rmdir()
        self._lock.close()
        self._lock = None

    def withdraw(self) -> None:
        """Let ``release`` remove the folder if this lock's holder made it: the run could not begin."""
        if self._new:
            self.header.unlink(missing_ok=True)

    def _recorded(self) -> list[Path]:
        """Whatever a run writes but its header."""
        folders = [self.checkpoints, self.bank, self.path / "trajectories", self.studies, self.trackers]
        return [*folders, self.episodes, self.metrics, self.history]

    def _clear(self) -> None:
        for path in self._recorded():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _holds_something(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    return path.exists() and path.stat().st_size > 0


def folder_name(resolved: Mapping[str, Any]) -> str:
    """``<name>-<hash>``: the same experiment, the same folder.

    Args:
        resolved: the whole configuration as JSON values.
    """
    run = {key: value for key, value in resolved["run"].items() if key not in UNHASHED}
    text = json.dumps({**resolved, "run": run}, sort_keys=True)
    return f"{run['name']}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
