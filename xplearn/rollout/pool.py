"""Many copies of one environment, played in lock step: in this process, in workers, or in another interpreter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xplearn.capability import Capability
from xplearn.errors import EnvironmentDiedError
from xplearn.schema import EnvSpec
from xplearn.types import Message, Observation, Outcome, Task, Trajectory


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
    raise NotImplementedError
