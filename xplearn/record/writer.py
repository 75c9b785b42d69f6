"""Appending to a run folder: each finished episode at once, so that a kill loses at most those in flight.

A line is handed to the operating system when it is written (a killed process loses nothing) and forced to disk at checkpoints.
A trajectory is written before its episode's line: the line in ``episodes.jsonl`` is what says that the episode is done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from xplearn.files import replacing, sync
from xplearn.record.folder import RunFolder
from xplearn.record.formats import as_json, dump_trajectory, load_result
from xplearn.record.history import number_of
from xplearn.record.lines import mend, read_lines
from xplearn.types import EpisodeResult, Trajectory

_encode = json.JSONEncoder(separators=(",", ":")).encode


class RunWriter:
    """The open files of a run. Opening drops what a kill left half-written.

    Args:
        folder: of the run.
        changes: how many changes of the agent lie behind the last checkpoint; lines of later ones are dropped, as those changes are made
            again. None keeps every line.
    """

    def __init__(self, folder: RunFolder, *, changes: int | None = None) -> None:
        self._folder = folder
        self._files: dict[Path, BinaryIO] = {}
        mend(folder.episodes, lambda _: True, json.loads)
        for path in (folder.metrics, folder.history):
            mend(path, lambda number: changes is None or number <= changes, number_of)
        results = list(read_lines(folder.episodes, load_result))
        self._done = {result.id: result.phase for result in results}
        self._origins = {result.id: (result.env, result.task) for result in results}

    def done(self, phase: str) -> frozenset[str]:
        """Ids of the finished episodes of a phase."""
        return frozenset(id for id, where in self._done.items() if where == phase)

    def origin(self, id: str) -> tuple[str, str] | None:
        """Environment and task of a finished episode; None for another id."""
        return self._origins.get(id)

    @property
    def has_episodes(self) -> bool:
        """Whether any episode is finished."""
        return bool(self._done)

    def episode(self, trajectory: Trajectory, result: EpisodeResult) -> None:
        """Record one finished episode."""
        path = self._folder.trajectories(result.phase)
        if path not in self._files:
            mend(path, self._done.__contains__, lambda line: str(json.loads(line)["id"]))
        self._append(path, dump_trajectory(trajectory))
        self._append(self._folder.episodes, _encode(as_json(result)))
        self._done[result.id] = result.phase
        self._origins[result.id] = (result.env, result.task)

    def trajectories(self, phase: str, batch: Iterable[Trajectory]) -> None:
        """Record a whole phase that belongs to no episodes of its own, all or none."""
        with replacing(self._folder.trajectories(phase)) as file:
            file.writelines(dump_trajectory(trajectory).encode() + b"\n" for trajectory in batch)

    def scalars(self, line: dict[str, Any]) -> None:
        """Record the figures of one learner."""
        self._append(self._folder.metrics, _encode(line))

    def history(self, lines: Iterable[dict[str, Any]]) -> None:
        """Record what happened to the bank."""
        text = "\n".join(map(_encode, lines))
        if text:
            self._append(self._folder.history, text)

    def sync(self) -> None:
        """Force everything written so far to disk."""
        for file in self._files.values():
            os.fsync(file.fileno())

    def close(self) -> None:
        """Close the files. May be called twice."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _append(self, path: Path, line: str) -> None:
        file = self._files.get(path)
        if file is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = not path.exists()
            file = self._files[path] = path.open("ab", buffering=0)
            if new:
                sync(path.parent)
        left = memoryview(line.encode() + b"\n")
        while left:  # a disk that fills up takes a part first, and raises when it is asked to take the rest
            left = left[file.write(left) :]
