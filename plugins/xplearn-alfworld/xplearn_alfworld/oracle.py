"""An expert that sees everything: what to do next, from any state of a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xplearn import DataError
from xplearn_alfworld import goal
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.problem import Goal
from xplearn_alfworld.world import NOTHING, PROCESSES


def plan(engine: Engine) -> tuple[str, ...]:
    """Admissible commands that win the game from its present state; none where it is won. The engine stays as it is.

    A script, not a search: empty the hands, fetch, clean, heat or cool, and place, whatever of it is still to be done.
    Raises ``DataError`` when no such way exists.
    """
    return Script(engine.copy()).solve()


class Script:
    """A plan in the making, tried out on a copy of the game. Once the game is won, nothing is added any more."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.world = engine.world
        self.state = engine.state
        self.commands: list[str] = []

    def solve(self) -> tuple[str, ...]:
        """All commands from here to the goal."""
        light = self._asked.type == "look_at_obj_in_light"
        for _ in range(1 if light else goal.needed(self.world)):
            if light:
                self.look()
            else:
                self.place_one()
        if not self.engine.won:
            raise self.dead_end("the way that should lead there does not")
        return tuple(self.commands)

    def look(self) -> None:
        """Hold what is asked for where a lamp has been switched on."""
        wanted, lamps = self._within_sight(), self._lamps()
        if not wanted or not lamps:
            raise self.dead_end(f"it needs a {self._asked.thing} that can be taken and a {self._asked.target} that can be used")
        self._take(min(wanted, key=self._effort))
        lamp, place = min(lamps, key=lambda pair: self._distance(pair[1]))
        self._reach(place)
        self._do(f"use {self.world.names[lamp]}")

    def place_one(self) -> None:
        """Bring one thing more to where the goal is nearest to being reached."""
        if self.engine.won:
            return
        pairs = list(self._pairs())
        if not pairs:
            raise self.dead_end(self._lacking())
        _, thing, target = min(pairs)
        self._take(thing)
        if not goal.ready(self.world, self.state, thing):
            self._process(thing)
        self._put(target)

    def dead_end(self, reason: str) -> DataError:
        """The error that says why there is no way."""
        asked = self._asked
        return DataError(self.world.problem.name, f"cannot be solved from here ({asked.type}, {asked.thing}, {asked.target}): {reason}")

    def _pairs(self) -> Iterator[tuple[tuple[int, bool, bool, int, int], int, int]]:
        """Things and the receptacles to put them in, the most promising sorting first."""
        process = self._required()
        wanted = self._within_sight()
        ready = [thing for thing in self.world.wanted if goal.ready(self.world, self.state, thing)]
        for target in self.world.targets:
            there = [thing for thing in ready if thing in self.state.contents[target]]
            for thing in wanted:
                done = thing in ready
                if thing in there or target not in self.world.fits[thing] or not (done or self._processable(thing, process)):
                    continue
                yield (-len(there), thing != self.state.holding, not done, self._effort(thing), self._distance(target)), thing, target

    def _within_sight(self) -> list[int]:
        """Things of the kind asked for that one can get hold of."""
        return [thing for thing in self.world.wanted if self._obtainable(thing)]

    def _lamps(self) -> list[tuple[int, int]]:
        """Lamps of the kind asked for, each with the receptacle it stands on."""
        return [(thing, place) for thing in self.world.lamps for place in self._holders(thing)]

    def _lacking(self) -> str:
        process = self._required()
        done = f", put through '{process}'" if process else ""
        return f"it needs {goal.needed(self.world)} {self._asked.thing} that can be taken{done} and put into a {self._asked.target}"

    def _take(self, thing: int) -> None:
        if self.state.holding == thing:
            return
        if self.state.holding != NOTHING:
            self._put_away()
        place = self._nearest(self._holders(thing))
        self._access(place)
        self._do(f"take {self.world.names[thing]} from {self.world.places[place]}")

    def _put_away(self) -> None:
        places = self.world.fits[self.state.holding]
        if not places:
            raise self.dead_end(f"nothing is made for the {self.world.names[self.state.holding]} in the hands")
        self._put(self._nearest(places))

    def _put(self, place: int) -> None:
        self._access(place)
        self._do(f"move {self.world.names[self.state.holding]} to {self.world.places[place]}")

    def _process(self, thing: int) -> None:
        process = self._required()
        place = self._nearest(self._appliances(process))
        self._reach(place)
        self._do(f"{process} {self.world.names[thing]} with {self.world.places[place]}")

    def _access(self, place: int) -> None:
        self._reach(place)
        if not self.world.accessible(self.state, place):
            self._do(f"open {self.world.places[place]}")

    def _reach(self, place: int) -> None:
        if self.world.location[place] != self.state.here:
            self._do(f"go to {self.world.places[place]}")

    def _do(self, command: str) -> None:
        if self.engine.won:
            return
        if self.engine.act(command) is None:
            raise self.dead_end(f"'{command}' does nothing")
        self.commands.append(command)

    @property
    def _asked(self) -> Goal:
        return self.world.problem.goal

    def _required(self) -> str:
        return goal.PROCESS.get(self._asked.type, "")

    def _processable(self, thing: int, process: str) -> bool:
        return self.world.able(thing, process) and bool(self._appliances(process))

    def _appliances(self, process: str) -> list[int]:
        return [number for number, place in enumerate(self.world.receptacles) if PROCESSES.get(place.kind) == process]

    def _obtainable(self, thing: int) -> bool:
        return thing == self.state.holding or (self.world.things[thing].pickupable and bool(self._holders(thing)))

    def _holders(self, thing: int) -> list[int]:
        return [place for place, things in enumerate(self.state.contents) if thing in things]

    def _nearest(self, places: Iterable[int]) -> int:
        return min(places, key=lambda place: (self._distance(place), place))

    def _effort(self, thing: int) -> int:
        return 0 if thing == self.state.holding else min(map(self._distance, self._holders(thing)))

    def _distance(self, place: int) -> int:
        """Actions until one can reach in."""
        return (self.world.location[place] != self.state.here) + (not self.world.accessible(self.state, place))
