"""One episode in a simulator, carried over to a new process should the old one die."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from xplearn import EnvironmentDiedError
from xplearn_scienceworld.jvm import NAME, Launch, Simulator, SimulatorGoneError

T = TypeVar("T")

GOLD_PATIENCE = 10
"""A gold path may take this many times the limit of a step: some take over ten seconds to find."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the simulator is asked to build."""

    kind: str
    variation: int
    simplifications: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The simulator after one line."""

    text: str
    points: int
    """0 to 100; -100 after a wrong focus."""
    completed: bool
    """The simulator's word for being over: says nothing of success."""
    moves: int
    """Time units passed."""


@dataclass(kw_only=True)
class Session:
    """Worlds built and played one after the other in one process, which is launched when first needed.

    When the process dies, the next call launches another, builds the world again and sends the lines again, once. A world is
    deterministic, so nobody notices; ``restarts`` counts.
    """

    launch: Launch
    limit: float
    """Seconds for one call."""
    restarts: int = 0
    _simulator: Simulator | None = None
    _world: World | None = None
    _sent: list[str] = field(default_factory=list)
    _last: Reading | None = None

    def open(self, world: World) -> Reading:
        """Build a world and look around in it."""
        self._world, self._sent, self._last = world, [], None
        self._last = self._surviving(lambda: self._build(world))
        return self._last

    def send(self, line: str) -> Reading:
        """Take one line of input."""
        self._last = self._surviving(lambda: self._read(line))
        self._sent.append(line)
        return self._last

    def actions(self) -> tuple[str, ...]:
        """The simulator's list of valid actions."""
        return self._surviving(lambda: self._process().listing("getValidActionObjectCombinations", limit=self.limit))

    def gold(self, world: World) -> tuple[str, ...]:
        """The simulator's own solution of a world. Ends the episode in progress."""
        self._world = None
        return self._surviving(lambda: self._solve(world))

    def settings(self) -> str:
        """The simplifications in force, as the simulator names them."""
        return str(self._process().call("getSimplificationsUsed", limit=self.limit))

    @property
    def pid(self) -> int | None:
        """Process id of the simulator, where one runs."""
        return self._simulator.pid if self._simulator is not None else None

    def close(self) -> None:
        """End the process. The next call launches another."""
        if self._simulator is not None and self._simulator.owner == os.getpid():
            self._simulator.close()
        self._simulator = None

    def _process(self) -> Simulator:
        if self._simulator is not None and self._simulator.owner != os.getpid():
            raise self._forked()
        if self._simulator is None:
            self._simulator = Simulator(self.launch)
        return self._simulator

    def _forked(self) -> SimulatorGoneError:
        self._simulator = None
        return SimulatorGoneError(NAME, "its simulator belongs to the process this one was forked from")

    def _surviving(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except SimulatorGoneError:
            self.restarts += 1
            self._simulator = None
            self._catch_up()
            return act()
        finally:
            if self._simulator is not None and self._simulator.closed:
                self._simulator = None

    def _catch_up(self) -> None:
        if self._world is None or self._last is None:
            return
        again = self._build(self._world)
        for line in self._sent:
            again = self._read(line)
        if again != self._last:
            raise EnvironmentDiedError(NAME, "its Java process died, and after a restart the same actions led elsewhere; reset starts anew")

    def _build(self, world: World) -> Reading:
        self._load(world, gold=False)
        return self._read("look around")  # as the upstream client does: the score of the last episode stays until the first line

    def _solve(self, world: World) -> tuple[str, ...]:
        self._process().forget_paths(limit=self.limit)
        self._load(world, gold=True)
        return self._process().listing("getGoldActionSequence", limit=self.limit)

    def _load(self, world: World, *, gold: bool) -> None:
        limit = self.limit * (GOLD_PATIENCE if gold else 1)
        complaint = self._process().call("load", world.kind, world.variation, world.simplifications, gold, limit=limit)
        if complaint:
            raise EnvironmentDiedError(NAME, f"the simulator refused {world}: {complaint}")

    def _read(self, line: str) -> Reading:
        process, limit = self._process(), self.limit
        return Reading(
            text=process.call("step", line, limit=limit),
            points=round(100 * process.call("getScore", limit=limit)),
            completed=process.call("getCompleted", limit=limit),
            moves=process.call("getNumMoves", limit=limit),
        )
