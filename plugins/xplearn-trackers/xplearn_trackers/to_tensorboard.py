"""TensorBoard: event files below the run folder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from xplearn_trackers.flat import flat
from xplearn_trackers.needed import needed
from xplearn_trackers.tracker import COLUMNS, RunTracker


class TensorBoard(RunTracker):
    """Writes ``<run folder>/trackers/tensorboard``; look with ``tensorboard --logdir runs``."""

    name: ClassVar[str] = "tensorboard"

    def __init__(self) -> None:
        self._events = needed("tensorboard.compat.proto.event_pb2", self.name)
        self._scalar = needed("tensorboard.plugins.scalar.summary_v2", self.name).scalar_pb
        self._text = needed("tensorboard.plugins.text.summary_v2", self.name).text_pb
        self._hparams = needed("tensorboard.plugins.hparams.summary_v2", self.name).hparams_pb
        self._writers = needed("tensorboard.summary.writer.event_file_writer", self.name)
        self._last = 0

    def open(self, folder: Path, config: Mapping[str, Any], *, resumed: bool) -> None:
        self._writer = self._writers.EventFileWriter(str(folder / "trackers" / self.name))
        if not resumed:
            self._add(self._hparams(flat(config), trial_id=folder.name), 0)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._add(self._scalar(name, value), step)
        self._last = max(self._last, step)
        self._writer.flush()

    def table(self, rows: Sequence[Sequence[Any]]) -> None:
        lines = [COLUMNS, ["---"] * len(COLUMNS), *([_cell(value) for value in row] for row in rows)]
        self._add(self._text("table", "\n".join(f"| {' | '.join(line)} |" for line in lines)), self._last)

    def close(self) -> None:
        self._writer.close()

    def _add(self, summary: Any, step: int) -> None:
        self._writer.add_event(self._events.Event(summary=summary, step=step, wall_time=time.time()))


def _cell(value: Any) -> str:
    """A value in a table of Markdown, whose text is shown as it is."""
    if isinstance(value, float):
        return f"{value:.1f}"
    text = "–" if value is None else str(value)
    return "".join(f"\\{mark}" if mark in "\\|*_`[]<>#" else mark for mark in text)
