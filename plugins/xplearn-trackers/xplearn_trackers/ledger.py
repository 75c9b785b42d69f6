"""Which points a tracker has been given: what is resumed sends nothing twice, and what a stop kept back it sends."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from xplearn_trackers.points import Point


class Ledger:
    """The steps and names of points, as lines of a file.

    Args:
        path: of the file; what a kill left half-written at its end is dropped.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.resumed = path.exists()
        """Whether a process before this one has sent points."""
        self._path = path
        whole = path.read_bytes() if self.resumed else b""
        whole = whole[: whole.rfind(b"\n") + 1]
        with path.open("ab") as file:  # not written anew: a kill in between would lose every line
            file.truncate(len(whole))
        self._known = {(step, name) for step, name in map(json.loads, whole.splitlines())}

    def __contains__(self, point: Point) -> bool:
        return (point.step, point.name) in self._known

    def add(self, points: Iterable[Point]) -> None:
        """Write points down, to the disk."""
        fresh = dict.fromkeys((point.step, point.name) for point in points if point not in self)
        self._known.update(fresh)
        with self._path.open("ab") as file:
            file.writelines(json.dumps(key).encode() + b"\n" for key in fresh)
            file.flush()
            os.fsync(file.fileno())
