"""The environment ``scienceworld.text``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from xplearn import ConfigError, ContractError, DataError, Environment, Observation, Outcome, Task, Trajectory
from xplearn_scienceworld import gold, install, text
from xplearn_scienceworld.catalogue import KINDS, SIMPLIFICATIONS, SPLITS, Kind, effective, goals, unknown
from xplearn_scienceworld.jvm import NAME, Launch
from xplearn_scienceworld.session import Reading, Session, World

GRAMMAR = 1
"""Grows when the same action may lead to another observation than before."""

LONGEST_SECONDS = 1e6
"""Most that ``step_seconds`` may be; clocks overflow somewhere beyond."""

CLOSED = "That action is not available."
"""The answer to ``reset task``, which would wipe out a failure."""


@dataclass
class _Episode:
    """Where the episode in progress stands."""

    limit: int | None
    points: int
    steps: int = 0
    options: tuple[str, ...] = ()
    ended: bool = False


@dataclass(kw_only=True)
class ScienceWorld(Environment):
    """Thirty tasks of elementary science in a house with a laboratory (Wang et al., 2022).

    A task is a variation of one of the 30 kinds: ``boil/12``. Its episode is the same whatever the seed. A step costs milliseconds
    without the list of admissible actions and several times that with it: set ``listing`` to False where nobody reads it.

    ``info``: ``valid``, ``score`` in [0, 1], ``success`` (all 100 points: being over is not success), ``points`` as the simulator
    gives them (-100 after a wrong focus), ``moves`` (time units passed), ``ambiguous`` (the simulator asks which reading is meant).
    """

    kinds: list[str] = field(default_factory=list)
    """Only these tasks, e.g. ``[boil, find-plant]``; empty for all 30."""
    simplifications: str = "easy"
    """``easy``, empty, or a comma-separated list of the simulator's; ``effective`` spells it out."""
    max_steps: int = 100
    """Actions after which an episode is truncated, whatever time they take in the simulator."""
    step_caps: Literal["uniform", "papers"] = "uniform"
    """``papers``: the agent papers' limit per kind instead of ``max_steps``, where they have one."""
    demonstrations: Literal["gold", "trimmed", "admissible"] = "trimmed"
    """The simulator's solution as it is; without opening doors that stand open; or also in the words of the admissible actions."""
    deterministic: bool = True
    """Fix the order in which the simulator walks through sets: without it the same actions may lead elsewhere."""
    java: str = ""
    """Path of a Java executable; empty for the bundled one, then ``JAVA_HOME``, then ``PATH``."""
    heap_mb: int = 512
    """Most memory the simulator may use for objects, in megabytes."""
    step_seconds: float = 60.0
    """Limit of one call to the simulator; over it the simulator is ended and the episode is lost."""

    def __post_init__(self) -> None:
        for name in self.kinds:
            if name not in KINDS:
                raise ConfigError("kinds", unknown("task", name, KINDS))
        for word in filter(None, self.simplifications.split(",")):
            if word not in ("easy", *SIMPLIFICATIONS):
                raise ConfigError("simplifications", unknown("simplification", word, ("easy", *SIMPLIFICATIONS)))
        for name, least, most in (("max_steps", 1, math.inf), ("heap_mb", 128, math.inf), ("step_seconds", 0.001, LONGEST_SECONDS)):
            if not least <= getattr(self, name) <= most:
                limit = f" and at most {most:g}" if most < math.inf else ""
                raise ConfigError(name, f"is {getattr(self, name)}, want at least {least}{limit}")
        self._check_electricity()
        launch = Launch(java=self.java, heap_mb=self.heap_mb, deterministic=self.deterministic)
        self._session = Session(launch=launch, limit=self.step_seconds)
        self._episode: _Episode | None = None
        self._capped = True
        self._gold: dict[str, tuple[str, ...]] = {}

    @property
    def provides(self) -> frozenset[str]:
        always = {"env.actions", "env.demos"}
        return frozenset(always | {"env.replay"}) if self.deterministic else frozenset(always)

    @property
    def version(self) -> str:
        caps = "caps of the papers" if self.step_caps == "papers" else f"{self.max_steps} steps"
        order = "" if self.deterministic else ", order not fixed"
        simplified = f"simplifications {self.simplifications or 'none'}"
        return f"scienceworld {install.PINNED} (jar {install.simulator_digest()}), grammar {GRAMMAR}, {simplified}, {caps}{order}"

    @property
    def instructions(self) -> str:
        move = "teleport to kitchen" if "teleportAction" in effective(self.simplifications, KINDS["boil"]) else "go to kitchen"
        return (
            "You are in a house with a science laboratory. Answer each turn with one action and nothing else, for example: "
            f"look around, {move}, open cupboard, look in cupboard, pick up thermometer, move pot to stove, pour cup in pot, "
            "activate stove, use thermometer on water, focus on water, wait.\n"
            "Focusing is scored: focus only on what the task names. A wrong focus ends the task as failed."
        )

    def splits(self) -> tuple[str, ...]:
        return SPLITS

    def tasks(self, split: str) -> Sequence[Task]:
        if split not in SPLITS:
            raise ConfigError("split", unknown("split", split, SPLITS))
        return [self._task(KINDS[name], variation, split) for name in self._names() for variation in KINDS[name].variations(split)]

    def effective(self, kind: str) -> tuple[str, ...]:
        """The simplifications in force for a kind of task, ``easy`` spelt out."""
        return effective(self.simplifications, KINDS[kind])

    def reset(self, task: Task, *, seed: int) -> Observation:
        world = self._world(task)
        self._episode = None
        reading = self._session.open(world)
        cap = KINDS[world.kind].paper_cap if self.step_caps == "papers" else None
        self._episode = _Episode(limit=(cap or self.max_steps) if self._capped else None, points=reading.points)
        return self._observed(reading.text)

    def step(self, action: str) -> Outcome:
        episode = self._running()
        episode.steps += 1
        line = text.clean(action)
        if text.resets(line):
            return self._refused(episode)
        try:
            reading = self._act(episode, line)
        except Exception:
            self._episode = None
            raise
        return self._outcome(episode, reading)

    def admissible(self) -> tuple[str, ...]:
        episode = self._running()
        if episode.options:
            return tuple(str(number) for number in range(len(episode.options)))
        return tuple(action for action in self._session.actions() if not text.resets(action))

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        """The simulator's own solution, replayed until the task is solved, however long that takes.

        A wording that does not reach the full score gives way to the next more literal one; where the simulator's own words fail too,
        the trajectory carries the reason as its ``error``.
        """
        path = self.gold_path(task)
        self._capped = False
        try:
            return gold.best_replay(self, task, path, seed=seed, wording=self.demonstrations)
        finally:
            self._capped = True

    def gold_path(self, task: Task) -> tuple[str, ...]:
        """The simulator's own solution as it gives it; the goal is usually reached before its end. Ends the episode in progress."""
        world = self._world(task)
        self._episode = None
        if task.id not in self._gold:
            self._gold[task.id] = self._session.gold(world)
        return self._gold[task.id]

    @property
    def restarts(self) -> int:
        """How often the simulator died and was replaced without loss."""
        return self._session.restarts

    def close(self) -> None:
        self._episode = None
        self._session.close()

    def _act(self, episode: _Episode, line: str) -> Reading:
        if episode.options:
            picked = text.choice(line, episode.options)
            if picked is not None:
                return self._session.send(picked)
            self._session.send("")  # the simulator would take whatever comes next for an answer, and swallow it
        return self._session.send(line)

    def _outcome(self, episode: _Episode, reading: Reading) -> Outcome:
        before, episode.points = max(0, episode.points), reading.points
        episode.options = text.options(reading.text)
        terminated = reading.completed or reading.points < 0
        truncated = not terminated and episode.steps == episode.limit
        episode.ended = terminated or truncated
        score = max(0, reading.points)
        info: dict[str, Any] = {
            "valid": text.understood(reading.text),
            "score": score / 100,
            "success": score == 100,
            "points": reading.points,
            "moves": reading.moves,
            "ambiguous": bool(episode.options),
        }
        observation = self._observed(reading.text)
        return Outcome(observation=observation, reward=(score - before) / 100, terminated=terminated, truncated=truncated, info=info)

    def _refused(self, episode: _Episode) -> Outcome:
        episode.ended = episode.steps == episode.limit
        score = max(0, episode.points)
        info = {"valid": False, "score": score / 100, "success": False, "points": episode.points, "ambiguous": bool(episode.options)}
        return Outcome(observation=self._observed(CLOSED), reward=0.0, terminated=False, truncated=episode.ended, info=info)

    def _observed(self, observation: str) -> Observation:
        ended = self._episode is not None and self._episode.ended
        return Observation(text=observation, actions=self.admissible() if self.listing and not ended else None)

    def _running(self) -> _Episode:
        if self._episode is None:
            raise ContractError(NAME, "no episode is in progress; call reset first")
        if self._episode.ended:
            raise ContractError(NAME, "the episode is over; call reset")
        return self._episode

    def _names(self) -> list[str]:
        return [name for name in KINDS if not self.kinds or name in self.kinds]

    def _check_electricity(self) -> None:
        if "noElectricalAction" not in self.simplifications.split(","):
            return
        needing = [name for name in self._names() if KINDS[name].electrical]
        if needing:
            raise ConfigError(
                "simplifications", f"noElectricalAction makes {needing[0]} unsolvable; leave it out of 'kinds', or use 'easy'"
            )

    def _task(self, kind: Kind, variation: int, split: str) -> Task:
        return Task(
            id=f"{kind.name}/{variation}",
            env=NAME,
            split=split,
            goal=goals()[kind.name][variation],
            kind=kind.name,
            meta={"task": kind.name, "variation": variation, "simplifications": list(effective(self.simplifications, kind))},
        )

    def _world(self, task: Task) -> World:
        name, _, number = task.id.rpartition("/")
        kind = KINDS.get(name)
        if task.env != NAME or kind is None or not (number.isascii() and number.isdigit()):
            raise DataError(task.id, f"is not a ScienceWorld task; ids look like boil/12 ({unknown('task', name, KINDS)})")
        if str(int(number)) != number or int(number) >= kind.size:
            raise DataError(task.id, f"'{name}' has the variations 0 to {kind.size - 1}")
        return World(kind=name, variation=int(number), simplifications=self.simplifications)
