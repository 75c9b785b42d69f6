"""An environment under watch: whatever it raises or returns, what comes out is what the interface promises or an error that names it."""

from __future__ import annotations

import logging
import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any, TypeVar

from xplearn.capability import Capability
from xplearn.errors import ContractError, EnvironmentDiedError, XplearnError
from xplearn.interfaces import Environment
from xplearn.types import Message, Observation, Outcome, Task, Trajectory

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


class WatchedEnvironment:
    """The verbs of an ``Environment``. An error on purpose passes; a ``SystemExit`` counts as an error; an interrupt is the user's.

    Raises:
        EnvironmentDiedError: the environment raised something else than an ``XplearnError``.
        ContractError: it returned something of another type than it should.
    """

    def __init__(self, name: str, make: Callable[[], Environment]) -> None:
        """Make the environment registered as ``name``."""
        self.name = name
        with self._blamed("starting"):
            self._env = make()

    @property
    def listing(self) -> bool:
        """``Environment.listing``."""
        return self._env.listing

    @listing.setter
    def listing(self, wanted: bool) -> None:
        self._env.listing = wanted

    @property
    def version(self) -> str:
        """``Environment.version``."""
        return self._checked("version", lambda: self._env.version, _is_text, "text")

    @property
    def provides(self) -> frozenset[Capability]:
        """``Environment.provides``."""
        return frozenset(self._checked("provides", lambda: self._env.provides, _is_texts, "texts"))

    def splits(self) -> tuple[str, ...]:
        """``Environment.splits``."""
        return tuple(self._checked("splits", self._env.splits, _is_texts, "texts"))

    def tasks(self, split: str) -> Sequence[Task]:
        """``Environment.tasks``."""
        return self._checked("tasks", lambda: self._env.tasks(split), _is_tasks, "a sequence of Task")

    def reset(self, task: Task, *, seed: int) -> Observation:
        """``Environment.reset``."""
        return self._checked("reset", lambda: self._env.reset(task, seed=seed), _is_observation, "an Observation")

    def opening(self, task: Task, observation: Observation) -> tuple[Message, ...]:
        """``Environment.opening``."""
        return tuple(self._checked("opening", lambda: self._env.opening(task, observation), _is_messages, "messages"))

    def parse(self, completion: str) -> str:
        """``Environment.parse``."""
        return self._checked("parse", lambda: self._env.parse(completion), _is_text, "text")

    def step(self, action: str) -> Outcome:
        """``Environment.step``."""
        return self._checked("step", lambda: self._env.step(action), _is_outcome, "an Outcome")

    def admissible(self) -> tuple[str, ...]:
        """``Environment.admissible``."""
        return tuple(self._checked("admissible", self._env.admissible, _is_texts, "texts"))

    def page(self) -> str:
        """``Environment.page``."""
        return self._checked("page", self._env.page, _is_text, "text")

    def demonstrate(self, task: Task, *, seed: int) -> Trajectory:
        """``Environment.demonstrate``."""
        return self._checked("demonstrate", lambda: self._env.demonstrate(task, seed=seed), _is_trajectory, "a Trajectory")

    def close(self) -> None:
        """``Environment.close``. An error here costs nothing any more: it is logged."""
        try:
            with self._blamed("close"):
                self._env.close()
        except XplearnError as error:
            _LOG.warning("%s (ignored)", error)

    def _checked(self, verb: str, ask: Callable[[], T], fits: Callable[[Any], bool], wanted: str) -> T:
        with self._blamed(verb):
            answer = ask()
            sound = fits(answer)
        if not sound:
            raise ContractError(self.name, f"{verb} must return {wanted}, but returned {_short(answer)}")
        return answer

    @contextmanager
    def _blamed(self, verb: str) -> Iterator[None]:
        try:
            yield
        except XplearnError:
            raise
        except (Exception, SystemExit) as error:
            raise EnvironmentDiedError(self.name, f"{verb} raised {_short(error)} in {_place(error)}") from error


def _short(value: object, limit: int = 200) -> str:
    """``repr``, cut, whatever it does."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[:limit] + " …"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, tuple | list | frozenset | set) and all(map(_is_text, value))


def _is_tasks(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(task, Task) and isinstance(task.id, str) for task in value)


def _is_messages(value: Any) -> bool:
    return isinstance(value, tuple | list) and bool(value) and all(_is_message(message) for message in value)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in ("role", "content"))


def _is_observation(value: Any) -> bool:
    return isinstance(value, Observation) and isinstance(value.text, str) and (value.actions is None or _is_texts(value.actions))


def _is_outcome(value: Any) -> bool:
    return (
        isinstance(value, Outcome)
        and _is_observation(value.observation)
        and _is_number(value.reward)
        and isinstance(value.info, Mapping)
        and _is_number(value.info.get("score", 0.0))
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


def _is_trajectory(value: Any) -> bool:
    return isinstance(value, Trajectory)
