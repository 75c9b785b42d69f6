"""Why nothing happens: one sentence, from nothing but what the player may know."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from xplearn_alfworld.engine import Engine
from xplearn_alfworld.world import NOTHING, PROCESSES

USAGE: Mapping[str, str] = {
    "go": "go to X",
    "open": "open X",
    "close": "close X",
    "take": "take X from Y",
    "move": "move X to Y",
    "examine": "examine X",
    "use": "use X",
    "clean": "clean X with Y",
    "heat": "heat X with Y",
    "cool": "cool X with Y",
    "slice": "slice X with Y",
    "look": "look",
    "inventory": "inventory",
    "help": "help",
}
"""The fourteen actions, by their first word."""

_PARTICIPLE: Mapping[str, str] = {"clean": "cleaned", "heat": "heated", "cool": "cooled"}


def _pattern(usage: str) -> re.Pattern[str]:
    return re.compile(re.sub("[XY]", r"(\\w+ \\d+)", usage), re.ASCII)


_PATTERNS = {verb: _pattern(usage) for verb, usage in USAGE.items()}


def why(engine: Engine, command: str) -> str:
    """Why a command, spelt as ``understood`` spells it, is not admissible now."""
    verb = command.partition(" ")[0]
    if verb not in USAGE:
        return f"Unknown action; there are: {', '.join(USAGE.values())}."
    found = _PATTERNS[verb].fullmatch(command)
    if found is None or not found.groups():
        return f"Say '{USAGE[verb]}'{', with names as they are shown, such as mug 1' if 'X' in USAGE[verb] else ''}."
    return _REASONS[verb](_Situation(engine), *found.groups())


class _Situation:
    """The game as the reasons ask about it, by name."""

    def __init__(self, engine: Engine) -> None:
        self.world, self.state = engine.world, engine.state
        self.places = {name: number for number, name in enumerate(self.world.places)}
        self.things = {name: number for number, name in enumerate(self.world.names)}
        self.held = "" if self.state.holding == NOTHING else self.world.names[self.state.holding]

    def away(self, place: str) -> str:
        """Why a receptacle is out of reach, or nothing."""
        number = self.places.get(place)
        if number is None:
            return f"There is no {place} to go to; the room's furniture is listed at the start."
        return "" if self.world.location[number] == self.state.here else f"You are not at {place}: go to {place} first."

    def shut(self, place: str) -> str:
        """Why one cannot reach into a receptacle, or nothing."""
        away = self.away(place)
        if away or self.world.accessible(self.state, self.places[place]):
            return away
        return f"The {place} is closed: open {place} first."

    def empty(self, thing: str) -> str:
        """Why a thing is not in the hands, or nothing."""
        return "" if thing == self.held else f"You are not holding {thing}" + (f" but {self.held}." if self.held else ".")


def _go(now: _Situation, place: str) -> str:
    reachable = place in now.places and not now.away(place)
    return f"The {place} is within reach from where you stand." if reachable else now.away(place)


def _open_or_close(verb: str, now: _Situation, place: str) -> str:
    if now.away(place):
        return now.away(place)
    openable = now.world.receptacles[now.places[place]].openable
    state, done = ("open", "opened") if verb == "open" else ("closed", "closed")
    return f"The {place} is {state} already." if openable else f"The {place} cannot be {done}."


def _examine(now: _Situation, name: str) -> str:
    return now.away(name) if name in now.places else "One can examine what one holds and the furniture within reach."


def _take(now: _Situation, thing: str, place: str) -> str:
    if now.held:
        return f"You are holding {now.held}, and hands hold one thing: move it somewhere first."
    if now.shut(place):
        return now.shut(place)
    there = now.things.get(thing) in now.state.contents[now.places[place]]
    return f"The {thing} cannot be taken." if there else f"There is no {thing} in or on {place}."


def _move(now: _Situation, thing: str, place: str) -> str:
    return now.empty(thing) or now.shut(place) or f"The {thing} cannot be put in or on {place}."


def _process(verb: str, now: _Situation, thing: str, place: str) -> str:
    if now.empty(thing) or now.away(place):
        return now.empty(thing) or now.away(place)
    wrong = PROCESSES.get(now.world.receptacles[now.places[place]].kind) != verb
    done = _PARTICIPLE[verb]
    needed = next(kind.lower() for kind, process in PROCESSES.items() if process == verb)
    return f"Things are {done} with a {needed}, not with {place}." if wrong else f"The {thing} cannot be {done}."


def _slice(now: _Situation, thing: str, tool: str) -> str:
    if now.empty(tool):
        return now.empty(tool)
    sharp = now.state.holding in now.world.knives
    return f"There is no {thing} within reach that can be sliced." if sharp else f"The {tool} is not sharp."


def _use(now: _Situation, thing: str) -> str:
    seen = [now.state.contents[place] for place in now.world.at[now.state.here] if now.world.accessible(now.state, place)]
    plain = thing == now.held or any(now.things.get(thing) in things for things in seen)
    return f"The {thing} has no switch." if plain else f"There is no {thing} within reach that can be switched on."


_REASONS: Mapping[str, Callable[..., str]] = {
    "go": _go,
    "open": functools.partial(_open_or_close, "open"),
    "close": functools.partial(_open_or_close, "close"),
    "take": _take,
    "move": _move,
    "examine": _examine,
    "use": _use,
    "clean": functools.partial(_process, "clean"),
    "heat": functools.partial(_process, "heat"),
    "cool": functools.partial(_process, "cool"),
    "slice": _slice,
}
