"""The environment ``alfworld.textworld``: the same games on the original engine, TextWorld with the rules that ALFWorld ships."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from xplearn import ContractError, DataError
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.environment import AlfWorld, Snapshot
from xplearn_alfworld.problem import Problem
from xplearn_alfworld.problem_text import problem_text

EXTRA = "pip install 'xplearn-alfworld[textworld]'"

_PLACEHOLDER = "UNKNOWN GOAL"
"""What the grammar's introduction says where the goal belongs."""

_ALONE = threading.Lock()
"""Games of one process share a parser, the translator's options and a swapped ``sys.stdout``: threads take turns."""


class Turn(NamedTuple):
    """What the original engine answers."""

    text: str
    admissible: tuple[str, ...]
    won: bool


class _Parts(NamedTuple):
    env: Any
    rules: dict[str, str]


class Original:
    """Games on the original engine, one at a time. Its planner and experts are never run.

    Safe to use from several threads, which then wait for each other; only processes make it faster.

    Raises:
        DataError: the extra is not installed.
    """

    def __init__(self) -> None:
        with _contained():
            self._env, self._rules = _imported()
        self._loaded: Problem | None = None

    def start(self, problem: Problem, sentence: str) -> Turn:
        """Begin a game. Takes about a second, as the engine translates a problem four times; half of that for the game before.

        Raises ``DataError`` where the engine cannot: it breaks on a goal that is out of reach.
        """
        with _contained():
            try:
                if problem != self._loaded:
                    self._loaded = None
                    self._env.load({**self._rules, "pddl_problem": problem_text(problem)})
                    self._loaded = problem
                state = self._env.reset()
            except Exception as error:
                raise DataError(problem.name, f"the original engine cannot play it ({error!r}); can its goal be reached?") from error
        return _turn(state, state.feedback.replace(_PLACEHOLDER, sentence))

    def step(self, command: str) -> Turn:
        """Answer a command, after ``start``."""
        with _contained():
            state, _, _ = self._env.step(command)
        return _turn(state, state.feedback)


class OriginalEngine(Engine):
    """A game whose texts, admissible commands and end are the original's.

    The native game goes along underneath, for the oracle and for the reasons that forgiving input is given.
    """

    def __init__(self, problem: Problem, sentence: str, original: Original) -> None:
        super().__init__(problem, sentence)
        self._original = original
        self._turn = original.start(problem, sentence)
        self._intro = self._turn.text

    @property
    def won(self) -> bool:
        return self._turn.won

    def intro(self) -> str:
        return self._intro

    def commands(self) -> tuple[str, ...]:
        return self._turn.admissible

    def act(self, command: str) -> str | None:
        valid = command in self._turn.admissible
        super().act(command)
        self._turn = self._original.step(command)
        return self._turn.text if valid else None


@dataclass(kw_only=True)
class TextWorldAlfWorld(AlfWorld):
    """``alfworld.text`` played by TextWorld: the same tasks, fields, texts and scores, hundreds of times slower.

    For comparison, and for whoever insists on the original. Needs the extra ``textworld``. The original's planner and experts are
    never run; ``demonstrate`` and ``plan`` are the native oracle's. There is no going back to a snapshot.
    """

    NAME: ClassVar[str] = "alfworld.textworld"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._original: Original | None = None

    @property
    def version(self) -> str:
        return f"textworld {_installed('textworld')}, {super().version}"

    def engine(self, problem: Problem, sentence: str) -> Engine:
        if self._original is None:
            self._original = Original()
        return OriginalEngine(problem, sentence, self._original)

    def snapshot(self) -> Snapshot:
        raise ContractError(self.NAME, "the original engine cannot go back to a snapshot; alfworld.text can")

    def restore(self, snapshot: Snapshot) -> None:
        self.snapshot()

    def close(self) -> None:
        super().close()
        self._original = None


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError as error:
        raise _missing(error) from error


def _missing(error: ImportError) -> DataError:
    return DataError(TextWorldAlfWorld.NAME, f"the original engine is not installed ({error}): {EXTRA}")


def _turn(state: Any, text: str) -> Turn:
    return Turn(text=text, admissible=tuple(state.admissible_commands), won=bool(state.won))


def _imported() -> _Parts:
    """What is used of TextWorld and ALFWorld."""
    try:
        textworld, pddl = import_module("textworld"), import_module("textworld.envs.pddl")
        naming, info = import_module("alfworld.agents.environment.alfred_tw_env"), import_module("alfworld.info")
    except ImportError as error:
        raise _missing(error) from error
    domain, grammar = (Path(path).read_text(encoding="utf-8") for path in (info.ALFRED_PDDL_PATH, info.ALFRED_TWL2_PATH))
    wanted = textworld.EnvInfos(feedback=True, won=True, admissible_commands=True)
    return _Parts(env=naming.AlfredDemangler(pddl.PddlEnv(wanted)), rules={"pddl_domain": domain, "grammar": grammar})


@contextlib.contextmanager
def _contained() -> Iterator[None]:
    """One thread at a time, and everything that the engine changes in its process changed back.

    Translation leaves another ``sys.argv`` behind; importing the rules sets ``ALFWORLD_DATA`` and makes a folder in the user's cache.
    """
    with _ALONE, warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        argv, home, output = sys.argv, os.environ.get("ALFWORLD_DATA"), sys.stdout
        if home is None:
            os.environ["ALFWORLD_DATA"] = folder
        try:
            yield
        finally:
            sys.argv, sys.stdout = argv, output
            if home is None:
                os.environ.pop("ALFWORLD_DATA", None)
