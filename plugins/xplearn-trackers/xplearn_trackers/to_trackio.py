"""trackio: a database on this machine, unless the environment says otherwise."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from xplearn_trackers.needed import needed
from xplearn_trackers.tracker import COLUMNS, RunTracker


class Trackio(RunTracker):
    """Writes trackio's own database (``TRACKIO_DIR``); look with ``trackio show --project xplearn``."""

    name: ClassVar[str] = "trackio"
    settle_seconds: ClassVar[float] = 5.0

    def __init__(self) -> None:
        self._trackio = needed("trackio", self.name)

    def open(self, folder: Path, config: Mapping[str, Any], *, resumed: bool) -> None:
        with _quietly():
            self._run = self._trackio.init(
                project=os.environ.get("TRACKIO_PROJECT") or "xplearn",
                name=folder.name,
                config=dict(config),
                resume="allow" if resumed else "never",
                embed=False,
                auto_log_cpu=False,
                auto_log_gpu=False,
            )

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def table(self, rows: Sequence[Sequence[Any]]) -> None:
        self._run.log({"table": self._trackio.Table(columns=list(COLUMNS), data=[list(row) for row in rows])})

    def close(self) -> None:
        with _quietly():
            self._trackio.finish()


def _quietly() -> contextlib.redirect_stdout[io.StringIO]:
    """What is printed stays unseen: the last line of ``xplearn run`` is the run folder's."""
    return contextlib.redirect_stdout(io.StringIO())
