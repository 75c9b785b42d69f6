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

UNHASHED = ("dir", "batch", "workers", "step_seconds")
"""Keys of ``run`` that cannot change a result: the same folder goes on with other values."""


class RunFolder:
    """Paths inside ``runs/<name>-<hash>/``, and the lock that keeps a second process out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header = path / "run.json"
        self.episodes = path / "episodes.jsonl"
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.bank = path / "bank"
        self._lock: BinaryIO | None = None

    def trajectories(self, phase: str) -> Path:
        """The trajectories of a phase; its name may hold slashes."""
        return self.path / "trajectories" / f"{quote(phase, safe='/#')}.jsonl"

    def study(self, stage: int, round: int) -> Path:
        """Which trajectories a round was trained on."""
        return self.path / "study" / f"{stage}-{round}.json"

    def acquire(self) -> None:
        """Take the lock, for the life of this process or until ``release``.

        Raises:
            RecordError: another process has it, or the folder cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("ab")
        except OSError as error:
            raise RecordError(self.path, f"cannot be written ({error.strerror}); choose another place with run.dir") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise RecordError(self.path, "another process is running this experiment; wait for it, or change run.name") from None
        self._lock = lock

    def release(self) -> None:
        """Give the lock back. A folder in which no run ever began is removed. May be called twice."""
        if self._lock is None:
            return
        if not self.header.exists():
            self.clear()
            (self.path / "lock").unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.path.rmdir()
        self._lock.close()
        self._lock = None

    def clear(self) -> None:
        """Remove what a run writes, the lock aside."""
        for folder in (self.checkpoints, self.bank, self.path / "trajectories", self.path / "study"):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self.header, self.episodes, self.metrics):
            file.unlink(missing_ok=True)


def folder_name(resolved: Mapping[str, Any]) -> str:
    """``<name>-<hash>``: the same experiment, the same folder.

    Args:
        resolved: the whole configuration as JSON values.
    """
    run = {key: value for key, value in resolved["run"].items() if key not in UNHASHED}
    text = json.dumps({**resolved, "run": run}, sort_keys=True)
    return f"{run['name']}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
