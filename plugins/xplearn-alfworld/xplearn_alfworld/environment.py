"""The environment ``alfworld.text``."""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from xplearn import ConfigError, ContractError, DataError, Environment, Message, Observation, Outcome, Task, Trajectory
from xplearn.errors import nearest
from xplearn_alfworld import explorer, oracle, reasons
from xplearn_alfworld.engine import RULES, Engine
from xplearn_alfworld.forgiving import understood
from xplearn_alfworld.games import ALIASES, TYPES, Entry, Games
from xplearn_alfworld.generated import LARGEST_SEED, MOST
from xplearn_alfworld.problem import Problem
from xplearn_alfworld.sources import source
from xplearn_alfworld.text import NOTHING_HAPPENS
from xplearn_alfworld.world import State

GRAMMAR = 1
"""Grows when the same text may lead to another action or answer than before."""

INSTRUCTIONS = (
    "You are in a room of a house and have a household task. Answer each turn with one action and nothing else:\n"
    "go to desk 1 | open drawer 2 | close drawer 2 | take mug 1 from desk 1 | move mug 1 to shelf 3 | use desklamp 1 | "
    "clean mug 1 with sinkbasin 1 | heat mug 1 with microwave 1 | cool mug 1 with fridge 1 | slice apple 1 with knife 1 | "
    "examine mug 1 | look | inventory\n"
    "You can carry one thing at a time. To clean, heat or cool a thing, hold it and go to the appliance."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A moment of an episode, to come back to."""

    task: str
    """Id of the task."""
    state: State
    """The state of the game."""
    steps: int
    """Actions taken."""
    ended: bool
    """Whether it was over."""

    @property
    def key(self) -> Hashable:
        """Equal where the task and the state of the game are, however many actions led there: for what a search has seen."""
        return self.task, self.state.key()


@dataclass
class _Episode:
    """Where the episode in progress stands."""

    task: str
    engine: Engine
    limit: int | None
    steps: int = 0
    ended: bool = False


@dataclass(kw_only=True)
class AlfWorld(Environment):
    """Household tasks in text (Shridhar et al., 2021), played by a native engine that equals TextWorld's to the letter.

    A task is a game: ``<split>/<task>/<trial>`` in the release. Its episode is the same whatever the seed. ``terminated`` means won;
    out of steps is ``truncated``.

    ``info``: ``valid`` (something happened), ``success``, ``won`` and ``score`` (1.0 when won, else 0.0), and unless ``faithful``
    ``reason``: why nothing happened, or empty.
    """

    NAME: ClassVar[str] = "alfworld.text"
    """What it is registered as."""

    data: str = ""
    """A packed file of games, a folder of such files or of the official layout; empty for generated houses."""
    faithful: bool = False
    """Take commands to the letter and answer as the original does. Otherwise near misses are understood and failures explained."""
    goals: Literal["templated", "human"] = "templated"
    """Which sentence states the goal; ``human``: the first one that people wrote for the game."""
    demonstrations: Literal["oracle", "explorer"] = "oracle"
    """Who shows how it is done: one who sees everything, or one who must search and so can be learned from."""
    kinds: list[str] = field(default_factory=list)
    """Only these types of task, e.g. ``[pick_and_place_simple]``; empty for all six."""
    things: list[str] = field(default_factory=list)
    """Only tasks whose goal names one of these, e.g. ``[book, laptop]``; empty for all. Fewer names are sooner learned by a small model."""
    max_steps: int = 50
    """Actions after which an episode is truncated."""
    games: int = 720
    """Generated houses for training."""
    valid_games: int = 140
    """Generated houses in ``valid_seen`` and in ``valid_unseen`` each."""
    seed: int = 0
    """What the generated houses are made from."""

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in TYPES:
                near = nearest(kind, TYPES)
                hint = f"; did you mean '{near}'?" if near else ""
                raise ConfigError("kinds", f"no type of task is called '{kind}'{hint} (known: {', '.join(TYPES)})")
        for name, known in (("goals", ("templated", "human")), ("demonstrations", ("oracle", "explorer"))):
            if getattr(self, name) not in known:
                raise ConfigError(name, f"is '{getattr(self, name)}', want {' or '.join(known)}")
        if self.goals == "human" and not self.data:
            raise ConfigError("goals", "generated houses have no sentences written by people; set data, or goals to templated")
        for name, least, most in (("max_steps", 1, None), ("games", 1, MOST), ("valid_games", 0, MOST), ("seed", 0, LARGEST_SEED)):
            value = getattr(self, name)
            if value < least or (most is not None and value > most):
                raise ConfigError(name, f"is {value}, want at least {least}" + (f" and at most {most}" if value > least else ""))
        self._episode: _Episode | None = None
        self._source: Games | None = None
        self._capped = True

    @property
    def provides(self) -> frozenset[str]:
        return frozenset({"env.actions", "env.demos", "env.replay"})

    @property
    def version(self) -> str:
        manner = "faithful" if self.faithful else f"forgiving, grammar {GRAMMAR}"
        made = f", seed {self.seed}" if not self.data else ""
        goals = ", human goals" if self.goals == "human" else ""
        games = self._games()
        return f"alfworld {RULES} rules, {manner}, {self.max_steps} steps, {games.kind} {games.digest}{made}{goals}"

    @property
    def instructions(self) -> str:
        return INSTRUCTIONS

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many games or files of ``data`` were left out so far, by reason: complete once ``splits`` was asked for."""
        return self._games().skipped

    def splits(self) -> tuple[str, ...]:
        splits = tuple(split for split in self._games().splits() if self._entries(split))
        if not splits:
            about = f", about one of: {', '.join(self.things)}" if self.things else ""
            which = ", ".join(self.kinds) or "any"
            raise ConfigError("things" if self.things else "kinds", f"none of the games is of these types: {which}{about}")
        return splits

    def tasks(self, split: str) -> Sequence[Task]:
        entries = self._entries(split) or self._entries(ALIASES.get(split, split))
        if not entries:
            known = self.splits()
            near = nearest(f"{split}", known)
            hint = f"; did you mean '{near}'?" if near else ""
            raise ConfigError("split", f"no split is called '{split}'{hint} (known: {', '.join(known)})")
        return [self._task(entry) for entry in entries]

    def reset(self, task: Task, *, seed: int) -> Observation:
        self._episode = None
        if not isinstance(task, Task):
            raise ContractError(self.NAME, f"reset takes a Task, not {type(task).__name__}; tasks() lists them")
        entry = self._games().find(task.id) if task.env == self.NAME else None
        if entry is None:
            known = f"'{self.data}'" if self.data else f"the generated houses of seed {self.seed}"
            raise DataError(task.id, f"is no task of {self.NAME} with {known}; tasks() lists those there are")
        problem = self._games().problem(entry.id)
        if problem.goal.type != entry.type:
            raise DataError(task.id, f"is listed as {entry.type}, but its problem is {problem.goal.type}: they belong to different games")
        engine = self.engine(problem, self._sentence(entry))
        oracle.plan(engine)
        self._episode = _Episode(task=task.id, engine=engine, limit=self.max_steps if self._capped else None)
        return self._observed(engine.intro())

    def step(self, action: str) -> Outcome:
        episode = self._running()
        if not isinstance(action, str):
            raise ContractError(self.NAME, f"an action is text, not {type(action).__name__}")
        engine = episode.engine
        command = action.strip()
        if not self.faithful and command not in engine.options():
            command = understood(action)
        seen = engine.act(command)
        episode.steps += 1
        episode.ended = engine.won or episode.steps == episode.limit
        info: dict[str, Any] = {"valid": seen is not None, "score": float(engine.won), "success": engine.won, "won": engine.won}
        if not self.faithful:
            info["reason"] = reasons.why(engine, command) if seen is None else ""
        return Outcome(
            observation=self._observed(_told(info.get("reason", "")) if seen is None else seen),
            reward=float(engine.won),
            terminated=engine.won,
            truncated=episode.ended and not engine.won,
            info=info,
        )

    def admissible(self) -> tuple[str, ...]:
        return self._begun().engine.commands()

    def opening(self, task: Task, observation: Observation) -> tuple[Message, ...]:
        """Instructions, then the first observation, which states the task."""
        return ({"role": "system", "content": self.instructions}, {"role": "user", "content": observation.text})

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        """A scripted expert's way from the start; it ignores the step limit. The oracle needs 3 to 10 actions in the released games."""
        began = time.perf_counter()
        self._capped = False
        try:
            self.reset(task, seed=seed)
            engine = self._running().engine
            actions = oracle.plan(engine) if self.demonstrations == "oracle" else explorer.explore(engine)
            trajectory = self.replay(task, actions or ("look",), seed=seed)
        finally:
            self._capped = True
        return replace(trajectory, seconds=time.perf_counter() - began)

    def plan(self) -> tuple[str, ...]:
        """What the expert would do from here: admissible actions that win the episode in progress, which stays as it is.

        Raises ``DataError`` in a dead end: with something in hands for which no receptacle is made.
        """
        return oracle.plan(self._running().engine)

    def snapshot(self) -> Snapshot:
        """This moment of the episode, to come back to with ``restore`` as often as wanted; microseconds."""
        episode = self._begun()
        return Snapshot(task=episode.task, state=episode.engine.snapshot(), steps=episode.steps, ended=episode.ended)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a moment of the same task's episode, be it over by now."""
        episode = self._begun()
        if not isinstance(snapshot, Snapshot):
            raise ContractError(self.NAME, f"restore takes what snapshot() gave, not {type(snapshot).__name__}")
        if snapshot.task != episode.task:
            raise ContractError(self.NAME, f"the snapshot is of {snapshot.task}, the episode of {episode.task}; reset to that task first")
        episode.engine.restore(snapshot.state)
        episode.steps, episode.ended = snapshot.steps, snapshot.ended

    def engine(self, problem: Problem, sentence: str) -> Engine:
        """The engine that plays a game."""
        return Engine(problem, sentence)

    def close(self) -> None:
        self._episode = self._source = None

    def _games(self) -> Games:
        if self._source is None:
            counts = {"train": self.games, "valid_seen": self.valid_games, "valid_unseen": self.valid_games}
            self._source = source(self.data, human=self.goals == "human", seed=self.seed, counts=counts)
        return self._source

    def _entries(self, split: str) -> list[Entry]:
        return [entry for entry in self._games().entries(split) if self._asked_for(entry)]

    def _asked_for(self, entry: Entry) -> bool:
        named = not self.things or not set(re.findall(r"\w+", entry.goal)).isdisjoint(self.things)
        return named and (not self.kinds or entry.type in self.kinds)

    def _task(self, entry: Entry) -> Task:
        goal = self._sentence(entry)
        return Task(id=entry.id, env=self.NAME, split=entry.split, goal=goal, kind=entry.type, meta=dict(entry.meta))

    def _sentence(self, entry: Entry) -> str:
        if self.goals == "templated":
            return entry.goal
        if not entry.human:
            raise DataError(entry.id, "has no sentence written by people; set goals to templated")
        return entry.human[0].strip()

    def _observed(self, text: str) -> Observation:
        return Observation(text=text, actions=self.admissible() if self.listing else None)

    def _begun(self) -> _Episode:
        if self._episode is None:
            raise ContractError(self.NAME, "no episode is in progress; call reset first")
        return self._episode

    def _running(self) -> _Episode:
        episode = self._begun()
        if episode.ended:
            raise ContractError(self.NAME, "the episode is over; call reset")
        return episode


def _told(reason: str) -> str:
    return f"{NOTHING_HAPPENS} ({reason})" if reason else NOTHING_HAPPENS
