"""What an experiment file may say: one dataclass per block, defaults included. ``xplearn.config`` composes files into it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from xplearn.errors import ConfigError

NAME = re.compile(r"\w[\w.-]{0,99}")
"""What a run may be called: it becomes part of a folder's name."""

PART = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
"""Which part of how many."""


@dataclass(kw_only=True)
class PartSpec:
    """A part by registered name, with its fields: ``core.nearest`` or ``{name: core.nearest, k: 3}``."""

    name: str
    """As registered: ``<plugin>.<part>``."""
    fields: dict[str, Any] = field(default_factory=dict)
    """What the file says of it beside the name."""


@dataclass(kw_only=True)
class EnvSpec(PartSpec):
    """An environment; ``python`` runs it in workers of another interpreter."""

    python: str = ""
    """Path of the interpreter that has the environment's plugin; empty for this one."""


@dataclass(kw_only=True)
class TaskSlice:
    """Which tasks of an environment: filters in the order of the fields, then the official order."""

    split: str = "train"
    """One of the environment's splits; a wrong name is answered with those there are."""
    ids: list[str] = field(default_factory=list)
    """Only these task ids; empty for all."""
    kinds: list[str] = field(default_factory=list)
    """Only these kinds; empty for all."""
    skip: int = 0
    """Leave out the first tasks of each kind."""
    per_kind: int | None = None
    """At most this many tasks of each kind, spread evenly over its list."""
    limit: int | None = None
    """At most this many tasks in all, spread evenly over the kinds."""
    part: str | None = None
    """``2/4``: the second of four disjoint parts of what the other fields leave, each with its share of every kind."""

    def __post_init__(self) -> None:
        _at_least("skip", self.skip, 0)
        _at_least("per_kind", self.per_kind, 1)
        _at_least("limit", self.limit, 1)
        if self.part is not None:
            found = PART.fullmatch(self.part)
            if found is None or int(found[1]) > int(found[2]):
                raise ConfigError("part", f"is '{self.part[:80]}'; want which of how many, e.g. 2/4")


@dataclass(kw_only=True)
class StageConfig:
    """One part of the stream: an environment and a slice of its tasks."""

    env: EnvSpec
    """What is played."""
    tasks: TaskSlice = field(default_factory=TaskSlice)
    """What is learned from."""
    rounds: int = 1
    """Collect-learn cycles."""
    per_round: int | None = None
    """Tasks played in one round, taken in turn; empty for all. The order is drawn anew each time all have been played."""
    warmup: bool = False
    """Learned before the first evaluation: makes the starting point, is no part of the stream, and leaves the bank alone unless ``record``
    says otherwise."""
    record: bool | None = None
    """Whether the learners of ``record`` write the bank here; empty for yes, but no in a warm-up. There they get what the warm-up's own
    learners learn from."""

    @property
    def records(self) -> bool:
        """Whether the bank is written."""
        return not self.warmup if self.record is None else self.record

    def __post_init__(self) -> None:
        _at_least("rounds", self.rounds, 1)
        _at_least("per_round", self.per_round, 1)


@dataclass(kw_only=True)
class SamplingConfig:
    """How actions are drawn."""

    max_new_tokens: int = 32
    """Longest action; an admissible one is always said to its end."""
    temperature: float = 1.0
    """0 is greedy."""
    top_p: float = 1.0
    """Draw only from the likeliest tokens that together have this probability; 1 for all."""
    stop: list[str] = field(default_factory=lambda: ["\n"])
    """Texts that end a free completion and are not part of it; an empty list for none."""
    choices: Literal["free", "admissible", "rank"] = "free"
    """Any text, one of the admissible actions, or an order of the candidates."""

    def __post_init__(self) -> None:
        _at_least("max_new_tokens", self.max_new_tokens, 1)
        _at_least("temperature", self.temperature, 0)
        if not 0 < self.top_p <= 1:
            raise ConfigError("top_p", f"is {self.top_p}; want a number in (0, 1]")
        if self.top_p < 1 and self.choices == "rank":
            raise ConfigError("top_p", f"is {self.top_p}, and an order of candidates (choices: rank) has no nucleus; leave it at 1")
        if "" in self.stop:
            raise ConfigError("stop", "holds an empty text, which ends everything before it begins; want [] for none")


@dataclass(kw_only=True)
class EvaluateConfig:
    """The test after each stage: every domain, both arms, bank frozen."""

    tasks: TaskSlice = field(default_factory=lambda: TaskSlice(split="test"))
    """What every domain is tested on."""
    arms: list[Literal["plain", "experience"]] = field(default_factory=lambda: ["plain", "experience"])
    """``plain``: the policy alone; ``experience``: with what the selector finds in the bank."""
    replicas: int = 1
    """Episodes per task and arm, with different keys."""
    before: bool = True
    """Also evaluate before any learning, the bank of the first stage written: the rows Base and Base+Harness."""
    sampling: SamplingConfig = field(default_factory=lambda: SamplingConfig(temperature=0.0))
    """What is not said here is as in the experiment's ``sampling``, at temperature 0."""
    confidence: float = 0.95
    """Of the bootstrap intervals."""
    resamples: int = 2000
    """Bootstrap resamples."""

    def __post_init__(self) -> None:
        _at_least("replicas", self.replicas, 1)
        _at_least("resamples", self.resamples, 100)
        if not self.arms:
            raise ConfigError("arms", "is empty; want [plain], [experience] or both")
        if not 0.5 <= self.confidence < 1:
            raise ConfigError("confidence", f"is {self.confidence}; want a share in [0.5, 1)")


_MOST_REPLAYED = 1_000_000


@dataclass(kw_only=True)
class ReplayConfig:
    """Earlier anchors added to what a stage studies."""

    ratio: float = 0.0
    """Replayed trajectories per new one."""

    def __post_init__(self) -> None:
        _at_least("ratio", self.ratio, 0)
        if self.ratio > _MOST_REPLAYED:
            raise ConfigError("ratio", f"is {self.ratio}; want at most {_MOST_REPLAYED:,}, which is everything")


@dataclass(kw_only=True)
class RunConfig:
    """Where and how the run is carried out. Nothing here but ``seed`` and ``max_steps`` changes a result."""

    seed: int = 0
    """Everything random is derived from it."""
    name: str = "run"
    """Human part of the run folder's name."""
    dir: str = "runs"
    """Folder of run folders."""
    batch: int = 8
    """Episodes played in lock step."""
    workers: int = 0
    """Environment processes; 0 plays them in this process."""
    max_steps: int | None = None
    """Step limit per episode on top of the environment's own."""
    step_seconds: float = 120.0
    """Limit of one environment step in a worker; a worker over it is ended and its episode played again once."""
    track: list[str] = field(default_factory=list)
    """Where the run's figures are also sent while it goes on, e.g. ``[trackers.tensorboard]`` of ``xplearn-trackers``."""

    def __post_init__(self) -> None:
        _at_least("batch", self.batch, 1)
        _at_least("workers", self.workers, 0)
        _at_least("max_steps", self.max_steps, 1)
        if not 0 < self.step_seconds < math.inf:
            raise ConfigError("step_seconds", f"is {self.step_seconds}; want a positive, finite number of seconds")
        if not NAME.fullmatch(self.name):
            raise ConfigError("name", f"'{self.name[:80]}' cannot name a folder; want at most 100 letters, digits, '-', '_' and '.'")


@dataclass(kw_only=True)
class Experiment:
    """A whole experiment."""

    stream: list[StageConfig]
    """What is learned from, stage after stage."""
    policy: PartSpec
    """Who acts."""
    encoder: PartSpec = field(default_factory=lambda: PartSpec(name="core.hashing"))
    """Turns texts into the vectors that selectors search."""
    store: PartSpec = field(default_factory=lambda: PartSpec(name="core.sqlite"))
    """Holds the bank."""
    selector: PartSpec = field(default_factory=lambda: PartSpec(name="core.none"))
    """Which experience is shown in an episode: a selector with purpose act."""
    conditioner: PartSpec = field(default_factory=lambda: PartSpec(name="core.none"))
    """How the selected experience is shown to the policy."""
    record: list[PartSpec] = field(default_factory=list)
    """Learners that write the bank, before study."""
    curriculum: PartSpec = field(default_factory=lambda: PartSpec(name="core.all"))
    """Which experience is learned from: a selector with purpose study. Learners of ``warmup`` learn from everything."""
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    """Earlier anchors added to what a stage studies."""
    learner: list[PartSpec] = field(default_factory=list)
    """What changes the weights, after each round."""
    warmup: list[PartSpec] = field(default_factory=list)
    """What changes the weights in warm-up stages instead, e.g. ``core.clone`` before ``core.grpo``; empty for the same as ``learner``."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    """Of rollouts to learn from."""
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
    """The test after each stage."""
    run: RunConfig = field(default_factory=RunConfig)
    """Where and how the run is carried out."""

    def __post_init__(self) -> None:
        if not any(not stage.warmup for stage in self.stream):
            raise ConfigError("stream", "has no stage to learn from; add one, e.g. [{env: core.errands}]")
        self._listed = list(range(len(self.stream)))

    def learns(self, stage: StageConfig) -> str:
        """The key whose learners change the weights in a stage: ``learner``, or ``warmup``."""
        return "warmup" if stage.warmup and self.warmup else "learner"

    def reorder(self, order: Sequence[int]) -> None:
        """Put the stages in another order; ``stage_path`` still names them by their numbers as listed."""
        self.stream, self._listed = [self.stream[number] for number in order], [self._listed[number] for number in order]

    def stage_path(self, index: int) -> str:
        """Path of the stage at a position of the stream, as overrides name it."""
        return f"stream.{self._listed[index]}"


def _at_least(name: str, value: float | None, least: float) -> None:
    if value is not None and not least <= value < math.inf:
        raise ConfigError(name, f"is {value}; want at least {least}" + ("" if math.isfinite(value) else " and a finite number"))
