"""Reading a run folder, finished or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xplearn.errors import XplearnError
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.table import Table, build_table
from xplearn.record.folder import RunFolder
from xplearn.record.formats import as_json, load_result, load_trajectory
from xplearn.record.header import Header, read_header
from xplearn.record.lines import read_lines
from xplearn.types import EpisodeResult, Trajectory


class Run:
    """A recorded run."""

    def __init__(self, folder: RunFolder, header: Header) -> None:
        self._folder = folder
        self.path = folder.path
        self.header = header

    def episodes(self) -> Iterator[EpisodeResult]:
        """The scalars of every finished episode, in the order they finished; expert's demonstrations among them."""
        return read_lines(self._folder.episodes, load_result)

    def trajectories(self, phase: str) -> Iterator[Trajectory]:
        """The trajectories of a phase, e.g. ``eval/0/core.errands`` or ``train/0/0``, in the order they finished."""
        return read_lines(self._folder.trajectories(phase), load_trajectory)

    def phases(self) -> list[str]:
        """Names of the phases that have episodes, in the order they began."""
        return list(dict.fromkeys(result.phase for result in self.episodes()))

    def scalars(self) -> list[dict[str, Any]]:
        """The learners' figures, one mapping for each stage, round and learner."""
        return list(dict(read_lines(self._folder.metrics, _figures)).values())

    def table(self) -> Table:
        """The table so far."""
        resolved = self.header.resolved
        evaluate = resolved["evaluate"]
        bootstrap = Bootstrap(confidence=evaluate["confidence"], resamples=evaluate["resamples"], seed=self.header.seed)
        points = sum(not stage["warmup"] for stage in resolved["stream"])
        learned, domains = bool(resolved["learner"]), list(self.header.panels)
        return build_table(self.episodes(), points=points, learned=learned, bootstrap=bootstrap, domains=domains)

    def frame(self) -> Any:
        """The episodes as a pandas data frame, one row each."""
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise XplearnError("a data frame needs pandas: pip install pandas (without it: list(run.episodes()))") from None
        return pd.DataFrame([as_json(result) for result in self.episodes()])


def _figures(line: str) -> tuple[tuple[int, int, str], dict[str, Any]]:
    """One learner's figures, after what they belong to."""
    raw = json.loads(line)
    return (raw["stage"], raw["round"], raw["learner"]), raw


def load(folder: str | Path) -> Run:
    """Read a run folder.

    Raises:
        RecordError: it is not a run folder, is damaged, or a newer xplearn wrote it.
    """
    place = RunFolder(Path(folder))
    return Run(place, read_header(place.header))
