"""What all trackers do alike."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from xplearn import EpisodeResult, load
from xplearn_trackers.ledger import Ledger
from xplearn_trackers.points import Point, Points, replayed

COLUMNS = ("label", "domain", "arm", "episodes", "score", "low", "high", "success", "tokens in", "tokens out")
"""Of the final table; score and success 0 to 100, tokens per episode."""


class RunTracker(ABC):
    """Sends the points of a run to one place, each once: a ledger in the run folder says which are there.

    A point counts as there ``settle_seconds`` after it was sent; what is killed before that sends it again when it is resumed.
    """

    name: ClassVar[str]
    settle_seconds: ClassVar[float] = 0.0
    """How long after a point was handed over a kill may still lose it; infinite where only an end in order is sure."""

    def run_start(self, folder: str, config: dict[str, Any]) -> None:
        """Begin, or go on; what was recorded and never sent is sent."""
        self._folder = Path(folder)
        self._ledger = Ledger(self._folder / "trackers" / f"{self.name}.jsonl")
        self._unsettled: list[tuple[float, Point]] = []
        self.open(self._folder, config, resumed=self._ledger.resumed)
        self._points = self._new_points()
        self._send(self._recorded(self._points))

    def episode_end(self, result: EpisodeResult) -> None:
        """Count it; the means of a phase are sent when it is over."""
        self._send(self._points.episode(result))

    def learn_end(self, stage: int, round: int, learner: str, scalars: dict[str, float]) -> None:
        """Send a learner's figures."""
        self._send([*self._points.close(), *self._points.learned(stage, round, learner, scalars)])

    def run_end(self, folder: str, status: str) -> None:
        """Send what is still missing and the table, where the run is finished; and end."""
        try:
            if status == "finished":
                points = self._new_points()
                self._send([*self._recorded(points), *points.close()])
                self.table(list(map(_row, load(self._folder).header.results)))
        finally:
            self.close()
        self._ledger.add(point for _, point in self._unsettled)

    @abstractmethod
    def open(self, folder: Path, config: Mapping[str, Any], *, resumed: bool) -> None:
        """Begin, or go on where another process was; the configuration is told as hyperparameters."""

    @abstractmethod
    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Send the points of one step."""

    @abstractmethod
    def table(self, rows: Sequence[Sequence[Any]]) -> None:
        """Send the final table, whose columns are ``COLUMNS``."""

    @abstractmethod
    def close(self) -> None:
        """Wait until everything has arrived, and end."""

    def _new_points(self) -> Points:
        run = load(self._folder)
        return Points(run.header.resolved["stream"], self._shown)

    def _shown(self, phase: str) -> bool:
        first = next(load(self._folder).trajectories(phase), None)
        return first is not None and first.source == "demonstration"

    def _recorded(self, points: Points) -> list[Point]:
        run = load(self._folder)
        return replayed(points, run.episodes(), run.scalars())

    def _send(self, points: Iterable[Point]) -> None:
        """Send what has not been sent, step by step."""
        waiting = {point for _, point in self._unsettled}
        fresh = [point for point in points if point not in self._ledger and point not in waiting]
        if not fresh:
            return
        for step in sorted({point.step for point in fresh}):
            self.log(step, {point.name: point.value for point in fresh if point.step == step})
        now = time.monotonic()
        self._unsettled += [(now, point) for point in fresh]
        self._ledger.add(point for sent, point in self._unsettled if now - sent >= self.settle_seconds)
        self._unsettled = [(sent, point) for sent, point in self._unsettled if now - sent < self.settle_seconds]


def _row(found: Mapping[str, Any]) -> tuple[Any, ...]:
    score = found["score"]
    figures = (score["mean"], score["low"], score["high"], found["success"], found["tokens_in"], found["tokens_out"])
    return (found["label"], found["domain"], found["arm"], found["n"], *figures)
