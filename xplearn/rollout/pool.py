"""Many copies of one environment, played in lock step: in this process, in workers, or in another interpreter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from xplearn.capability import Capability
from xplearn.errors import EnvironmentDiedError
from xplearn.interfaces import Environment
from xplearn.plugins import installed
from xplearn.rollout.watched import WatchedEnvironment
from xplearn.schema import EnvSpec
from xplearn.types import Message, Observation, Outcome, Task, Trajectory

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The beginning of an episode."""

    observation: Observation
    messages: tuple[Message, ...]
    """The environment's opening of the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one completion led to."""

    action: str
    """As the environment parsed it."""
    outcome: Outcome


class EnvironmentPool(ABC):
    """``slots`` copies of an environment. Every verb takes and returns a mapping by slot, in any order.

    A copy that dies or hangs answers with an ``EnvironmentDiedError`` as *value*; the next ``reset`` of its slot starts it anew.
    """

    version: str
    """``Environment.version``."""
    splits: tuple[str, ...]
    provides: frozenset[Capability]
    slots: int

    @abstractmethod
    def tasks(self, split: str) -> Sequence[Task]: ...

    @abstractmethod
    def reset(self, requests: Mapping[int, tuple[Task, int]]) -> dict[int, Start | EnvironmentDiedError]:
        """Start episodes: task and seed by slot."""

    @abstractmethod
    def step(self, completions: Mapping[int, str]) -> dict[int, Turn | EnvironmentDiedError]:
        """Parse and take one action in each of these slots."""

    @abstractmethod
    def demonstrate(self, requests: Sequence[tuple[Task, int]]) -> Iterator[Trajectory | EnvironmentDiedError]:
        """The expert's trajectories, in the order of the requests, several at once where there are workers."""

    @abstractmethod
    def close(self) -> None:
        """End every copy. May be called twice."""


def open_pool(spec: EnvSpec, *, slots: int, workers: int = 0, step_seconds: float = 120.0, listing: bool = True) -> EnvironmentPool:
    """A pool of ``slots`` copies of an environment.

    Args:
        spec: name, fields and, for another interpreter, its path (which implies at least one worker).
        slots: copies, hence episodes in flight.
        workers: processes they are spread over; 0 keeps them here.
        step_seconds: limit of one step in a worker.
        listing: whether observations list the admissible actions.
    """
    if workers or spec.python:
        from xplearn.rollout.workers import WorkerPool

        return WorkerPool(spec, slots=slots, workers=max(workers, 1), step_seconds=step_seconds, listing=listing)
    return LocalPool(spec, slots=slots, listing=listing)


class Seats:
    """Copies of one environment by slot, made when first needed: what plays the episodes, here and in a worker.

    An exception that an environment should not raise counts as its death: the episode is lost, the run is not, and the copy is
    replaced at the next ``reset``.
    """

    def __init__(self, spec: EnvSpec, listing: bool) -> None:
        self._spec, self._listing = spec, listing
        self._copies: dict[int, WatchedEnvironment] = {}
        self.first = self._copy(0)
        """The copy of slot 0, to ask about the environment in general."""

    def reset(self, slot: int, task: Task, seed: int) -> Start | EnvironmentDiedError:
        """Start an episode."""

        def begin() -> Start:
            env = self._copy(slot)
            observation = env.reset(task, seed=seed)
            return Start(observation=observation, messages=env.opening(task, observation))

        return self._guarded(slot, begin)

    def step(self, slot: int, completion: str) -> Turn | EnvironmentDiedError:
        """Parse and take one action."""

        def take() -> Turn:
            env = self._copy(slot)
            action = env.parse(completion)
            return Turn(action=action, outcome=env.step(action))

        return self._guarded(slot, take)

    def demonstrate(self, task: Task, seed: int) -> Trajectory | EnvironmentDiedError:
        """The expert's trajectory, played in slot 0."""
        return self._guarded(0, lambda: self._copy(0).demonstrate(task, seed=seed))

    def close(self) -> None:
        """Close every copy."""
        while self._copies:
            self._copies.popitem()[1].close()

    def _copy(self, slot: int) -> WatchedEnvironment:
        env = self._copies.get(slot)
        if env is None:
            env = self._copies[slot] = WatchedEnvironment(self._spec.name, self._make)
            env.listing = self._listing
            if slot == 0:
                self.first = env
        return env

    def _make(self) -> Environment:
        return cast("Environment", installed().registry.make("environment", self._spec.name, **self._spec.fields))

    def _guarded(self, slot: int, act: Callable[[], T]) -> T | EnvironmentDiedError:
        try:
            return act()
        except EnvironmentDiedError as error:
            env = self._copies.pop(slot, None)
            if env is not None:
                env.close()
            return error


class LocalPool(EnvironmentPool):
    """Copies in this process, played one after the other. No time limit."""

    def __init__(self, spec: EnvSpec, *, slots: int, listing: bool) -> None:
        self._seats = Seats(spec, listing)
        self.slots = slots
        env = self._seats.first
        self.version, self.splits, self.provides = env.version, env.splits(), env.provides

    def tasks(self, split: str) -> Sequence[Task]:
        return self._seats.first.tasks(split)

    def reset(self, requests: Mapping[int, tuple[Task, int]]) -> dict[int, Start | EnvironmentDiedError]:
        return {slot: self._seats.reset(slot, task, seed) for slot, (task, seed) in requests.items()}

    def step(self, completions: Mapping[int, str]) -> dict[int, Turn | EnvironmentDiedError]:
        return {slot: self._seats.step(slot, completion) for slot, completion in completions.items()}

    def demonstrate(self, requests: Sequence[tuple[Task, int]]) -> Iterator[Trajectory | EnvironmentDiedError]:
        for task, seed in requests:
            yield self._seats.demonstrate(task, seed)

    def close(self) -> None:
        self._seats.close()
