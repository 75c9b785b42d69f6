"""A game ready to be played: what never changes, indexed, and the little that does."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xplearn import DataError
from xplearn_alfworld.naming import order, shown
from xplearn_alfworld.problem import Problem, Receptacle, Thing

PROCESSES: Mapping[str, str] = {"SinkBasin": "clean", "Microwave": "heat", "Fridge": "cool"}
"""What one does with an appliance, by its kind."""

KNIVES = ("Knife", "ButterKnife")
"""Kinds of objects that others can be sliced with."""

NOTHING = -1
"""What empty hands hold."""


class Action(NamedTuple):
    """An action in numbers; its command is its words."""

    verb: str
    thing: int = NOTHING
    place: int = NOTHING


Options = dict[str, Action]
"""Admissible actions by their commands."""


@dataclass(slots=True, kw_only=True)
class State:
    """All that changes in a game. Things, receptacles and locations are numbers: their places in ``World``."""

    here: int
    """Location of the agent."""
    holding: int = NOTHING
    """The thing in the hands, or ``NOTHING``."""
    opened: set[int]
    """Receptacles that stand open."""
    contents: list[tuple[int, ...]]
    """Things in or on each receptacle, in order. One that is in several stays in the others when taken out of one."""
    spots: list[tuple[int, ...]]
    """Things at each location, in order: what can be sliced from there."""
    moved: set[tuple[int, int]] = field(default_factory=set)
    """(thing, receptacle) for what was taken out and not put back."""
    clean: set[int] = field(default_factory=set)
    hot: set[int] = field(default_factory=set)
    cool: set[int] = field(default_factory=set)
    sliced: set[int] = field(default_factory=set)
    lit: set[int] = field(default_factory=set)
    """Things that have been used: they never go out again."""

    def key(self) -> Hashable:
        """Equal for equal states, and fit for sets."""
        marks = (self.opened, self.moved, self.clean, self.hot, self.cool, self.sliced, self.lit)
        return self.here, self.holding, tuple(self.contents), tuple(self.spots), tuple(frozenset[object](mark) for mark in marks)

    def copy(self) -> State:
        """A state of its own, equal to this one."""
        return State(
            here=self.here,
            holding=self.holding,
            opened=set(self.opened),
            contents=list(self.contents),
            spots=list(self.spots),
            moved=set(self.moved),
            clean=set(self.clean),
            hot=set(self.hot),
            cool=set(self.cool),
            sliced=set(self.sliced),
            lit=set(self.lit),
        )


class World:
    """What never changes in a game. Things and receptacles are in the original's order, by id.

    Raises ``DataError`` when a problem names what it does not contain.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.receptacles: tuple[Receptacle, ...] = tuple(sorted(problem.receptacles, key=lambda place: order(place.id)))
        self.things: tuple[Thing, ...] = tuple(sorted(problem.things, key=lambda thing: order(thing.id)))
        names = shown([*(place.id for place in self.receptacles), *(thing.id for thing in self.things)])
        self.places: tuple[str, ...] = tuple(names[place.id] for place in self.receptacles)
        """Names of the receptacles."""
        self.names: tuple[str, ...] = tuple(names[thing.id] for thing in self.things)
        """Names of the things."""
        self._place = {place.id: number for number, place in enumerate(self.receptacles)}
        self._location: dict[str, int] = {problem.start: 0}
        self.location = tuple(self._located(place.location) for place in self.receptacles)
        """Where each receptacle stands."""
        self._spots = [(self._located(thing.location), number) for number, thing in enumerate(self.things) if thing.location]
        self.at: tuple[tuple[int, ...], ...] = tuple(
            tuple(number for number, where in enumerate(self.location) if where == here) for here in range(len(self._location))
        )
        """Receptacles within reach of each location."""
        self.fits = tuple(
            frozenset(number for number, place in enumerate(self.receptacles) if (place.kind, thing.kind) in problem.fits)
            for thing in self.things
        )
        """Receptacles that each thing may be put in or on."""
        goal = problem.goal
        self.wanted = tuple(number for number, thing in enumerate(self.things) if thing.kind == goal.thing)
        """Things of the kind asked for."""
        self.targets = tuple(number for number, place in enumerate(self.receptacles) if place.kind == goal.target)
        """Receptacles that they may end in."""
        self.lamps = frozenset(number for number, thing in enumerate(self.things) if thing.kind == goal.target and thing.toggleable)
        """Lamps to look at them under."""
        self.knives = frozenset(number for number, thing in enumerate(self.things) if thing.kind in KNIVES)
        """Things that others can be sliced with."""
        inside = [thing.inside for thing in self.things]
        self.inside = tuple(tuple(n for n, outer in enumerate(inside) if thing.id in outer) for thing in self.things)
        """What each container holds, forever."""
        self.always: dict[int, Options] = {}
        """What can be done at a location whatever else holds; filled in where one has been."""

    def start(self) -> State:
        """The state in which the game begins."""
        contents: list[list[int]] = [[] for _ in self.receptacles]
        for number, thing in enumerate(self.things):
            for id in filter(None, (thing.receptacle, *thing.also_in)):
                if id not in self._place:
                    raise DataError(self.problem.name, f"{thing.id} is in '{id}', which is no receptacle of this game")
                contents[self._place[id]].append(number)
        return State(
            here=0,
            opened={number for number, place in enumerate(self.receptacles) if place.opened},
            contents=[tuple(things) for things in contents],
            spots=[tuple(number for where, number in self._spots if where == here) for here in range(len(self._location))],
            cool={number for number, thing in enumerate(self.things) if thing.cool},
        )

    def able(self, thing: int, process: str) -> bool:
        """Whether a thing can be put through a process: ``clean``, ``heat`` or ``cool``."""
        kind = self.things[thing]
        return {"clean": kind.cleanable, "heat": kind.heatable, "cool": kind.coolable}[process]

    def accessible(self, state: State, place: int) -> bool:
        """Whether one can reach into a receptacle: it is open, or cannot be shut."""
        return not self.receptacles[place].openable or place in state.opened

    def _located(self, location: str) -> int:
        return self._location.setdefault(location, len(self._location))


def with_thing(things: Iterable[int], thing: int) -> tuple[int, ...]:
    """One thing more, in order."""
    return tuple(sorted({*things, thing}))


def without(things: tuple[int, ...], thing: int) -> tuple[int, ...]:
    """One thing less."""
    return tuple(other for other in things if other != thing)
