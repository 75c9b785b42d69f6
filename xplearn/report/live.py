"""A run while it goes on, on a terminal: what it is doing, how it learns, and its table so far."""

from __future__ import annotations

import time
from itertools import takewhile
from typing import TYPE_CHECKING

from xplearn.metrics.digits import tenths
from xplearn.report import learning
from xplearn.report.printable import printable
from xplearn.report.shown import told
from xplearn.report.text import heading, rows

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from xplearn.record.following import Following
    from xplearn.types import Arm

BAR = 16
"""Characters of the bar of a phase."""

PATIENCE = 20
"""Curves and table are drawn anew after so many times the seconds that it takes."""


class LiveRun:
    """Draws a run that goes on. What is dear to draw is drawn anew when it has changed, and seldom where that takes long."""

    def __init__(self, run: Following) -> None:
        self.run = run
        self._stale, self._due, self._width = True, 0.0, 0
        self._drawn: list[RenderableType] = []
        self._asked: set[str] = set()
        self._shown: set[str] = set()

    def refresh(self) -> bool:
        """Read what is new; whether there was anything."""
        before = self.run.now
        changed = self.run.refresh()
        self._stale |= changed
        return changed or self.run.now != before

    def picture(self, width: int) -> Group:
        """All of it, for a terminal of this width."""
        from rich.console import Group
        from rich.text import Text

        began = time.monotonic()
        if width != self._width or (self._stale and began >= self._due):
            self._drawn, self._stale, self._width = self._pieces(width), False, width
            self._due = time.monotonic() + PATIENCE * (time.monotonic() - began)
        return Group(Text(printable(heading(self.run))), Text(printable(doing(self.run, time.time())), style="bold"), *self._drawn)

    def _pieces(self, width: int) -> list[RenderableType]:
        from rich.text import Text

        results, table = list(self.run.episodes()), self.run.table()
        fresh = [result for result in results if result.phase not in self._asked]
        self._shown |= learning.demonstrations(self.run, fresh)
        self._asked |= {result.phase for result in fresh}
        found = learning.rounds(self.run, results, self._shown)
        curves = [*(learning.curves(found) if len(found) > 1 else []), *learning.figures(self.run.scalars())]
        drawn = [Text(printable(line), no_wrap=True) for line in learning.lines(curves, width)]
        return [*drawn, *(rows(table, width) if table.rows else [])]


def doing(run: Following, now: float) -> str:
    """What a run is doing in one line: phase, how far, how fast, how long yet, and the latest figures.

    Args:
        run: as it was last read.
        now: seconds since 1970.
    """
    phase = run.now
    if phase is None:
        last = next(run.latest(), None)
        return f"{run.header.status}; last in {last.phase}" if last else run.header.status
    if phase.ended:
        return f"after {phase.phase}: {phase.done} of {phase.total}"
    left = phase.left(now)
    pace = [f"{phase.rate:.3g}/s", f"{span(left)} left"] if phase.rate is not None and left is not None else []
    scores = _scores(run, phase.phase)
    latest = [f"{name.replace('_', ' ')} {value:.4g}" for name, value in phase.figures.items() if not scores or name != "score"]
    figures = "  ".join([f"{phase.done} of {phase.total}", *pace, *scores, *latest])
    return f"{phase.phase}  {bar(phase.done / phase.total if phase.total else 1.0)}  {figures}"


def bar(share: float) -> str:
    """A share from 0 to 1 as a bar."""
    full = round(BAR * min(max(share, 0.0), 1.0))
    return "█" * full + "░" * (BAR - full)


def span(seconds: float) -> str:
    """Seconds, minutes or hours, e.g. ``9 s``, ``12 min``, ``3.4 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _scores(run: Following, phase: str) -> list[str]:
    """Mean score of each arm in the phase, as the policy saw it, and over how many episodes."""
    found = list(takewhile(lambda result: result.phase == phase, run.latest()))
    arms: tuple[Arm, ...] = ("plain", "experience")
    by_arm = {arm: [100.0 * result.score for result in found if result.arm == arm] for arm in arms}
    played = {arm: scores for arm, scores in by_arm.items() if scores}
    words = {arm: told(run, arm) if len(played) == 1 else arm for arm in played}
    return [f"{words[arm]} {tenths(sum(scores) / len(scores))} ({len(scores)})" for arm, scores in played.items()]
