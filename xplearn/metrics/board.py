"""What a leaderboard holds: contenders on one panel of tasks, ranked, each beside Base, its own plain arm, and the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xplearn.metrics.bootstrap import Array, Bootstrap, Interval
from xplearn.types import Arm

TaskScores = Mapping[tuple[str, str], float]
"""Score, 0 to 100, of each (domain, task), replicas averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One arm of one configuration, its seeds together."""

    name: str
    """Unique on its board; ends in ``+Harness`` where the bank is shown and the plain arm stands beside it."""
    arm: Arm
    scores: Mapping[int, TaskScores]
    """Final scores by seed."""
    base: Mapping[int, TaskScores] = field(default_factory=dict)
    """The plain arm before learning, by seed; empty where it was not evaluated."""
    plain: Mapping[int, TaskScores] = field(default_factory=dict)
    """The same policy without its bank, by seed; empty for a plain arm."""
    axes: Mapping[str, str] = field(default_factory=dict)
    """Label of its value on each axis of a cross, seeds aside."""
    runs: Sequence[str] = ()
    """Names of the run folders it was read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A paired difference of two contenders, in points: task difficulty and seed cancelled."""

    interval: Interval
    p: float
    """Two-sided paired permutation test over tasks."""
    p_holm: float
    """The same after Holm's correction over the board."""
    better: int
    """Tasks on which it is above what it is compared with."""
    worse: int
    """Tasks on which it is below: negative transfer where that is Base."""
    tasks: int
    """Tasks that both have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One line of a leaderboard."""

    contender: Contender
    mean: Interval
    iqm: Interval
    """Interquartile mean over tasks and seeds, as rliable defines it."""
    versus_base: Difference | None
    versus_plain: Difference | None
    """What showing the bank adds to the very same policy."""
    versus_best: Difference | None
    """None for the best itself."""
    tied: bool
    """The best, or not distinguishable from it after Holm's correction."""
    profile: Array
    """Share of (task, seed) scores above each of the board's ``thresholds``."""
    band: tuple[Array, Array] | None = None
    """Lower and upper bound of the profile, threshold by threshold; None where nothing is known about the spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A leaderboard."""

    title: str
    """What was evaluated, e.g. ``alfworld.text``."""
    panel: Mapping[str, int]
    """Evaluated tasks by domain."""
    environments: Mapping[str, str]
    """Version by domain."""
    standings: tuple[Standing, ...]
    """Best mean first."""
    thresholds: Array
    """Of the performance profiles, 0 to 100."""
    detectable: float | None
    """Smallest paired difference, in points, that a two-sided test on this panel finds four times in five; None if nothing is known."""
    confidence: float
    encoder: str = ""
    """That of every bank of vectors on it; empty where there is none."""
    apart: str = ""
    """What tells it from others of its domains; empty where there are none."""

    @property
    def level(self) -> float:
        """A difference is found where its p after Holm's correction lies below."""
        return Bootstrap(confidence=self.confidence).level

    @property
    def over(self) -> str:
        """What its intervals are over, in words."""
        seeds = [len(standing.contender.scores) for standing in self.standings]
        if max(seeds, default=1) == 1:
            return "tasks"
        return "tasks and seeds" if min(seeds) > 1 else "tasks, and seeds where there are several"
