"""Weights & Biases: offline, unless the environment says otherwise."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from xplearn import load
from xplearn_trackers.needed import needed
from xplearn_trackers.tracker import COLUMNS, RunTracker

AXIS = "round"
"""What the curves are drawn over."""


class WandB(RunTracker):
    """Writes ``<run folder>/trackers/wandb``, to be sent with ``wandb sync``; with ``WANDB_MODE=online`` it is sent at once.

    ``WANDB_PROJECT`` names the project (default ``xplearn``), ``WANDB_DIR`` another folder.
    """

    name: ClassVar[str] = "wandb"
    settle_seconds: ClassVar[float] = math.inf  # W&B keeps what fills no block of 32 KiB in memory until it ends

    def __init__(self) -> None:
        self._wandb = needed("wandb", self.name)

    def open(self, folder: Path, config: Mapping[str, Any], *, resumed: bool) -> None:
        quiet = self._wandb.Settings(silent=True, console="off", disable_git=True, disable_code=True, save_code=False, x_disable_stats=True)
        self._run = self._wandb.init(
            project=os.environ.get("WANDB_PROJECT") or "xplearn",
            id=_id(folder),
            name=folder.name,
            dir=os.environ.get("WANDB_DIR") or str(folder / "trackers"),
            mode=os.environ.get("WANDB_MODE") or "offline",
            config=dict(config),
            resume="allow",
            reinit="create_new",
            settings=quiet,
        )
        self._run.define_metric("*", step_metric=AXIS)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log({**values, AXIS: step})

    def table(self, rows: Sequence[Sequence[Any]]) -> None:
        self._run.log({"table": self._wandb.Table(columns=list(COLUMNS), data=[list(row) for row in rows])})

    def close(self) -> None:
        self._run.finish()


def _id(folder: Path) -> str:
    """The same for every process that carries this run out, and another for the same experiment elsewhere."""
    return hashlib.sha256(f"{folder.name} {load(folder).header.started}".encode()).hexdigest()[:16]
