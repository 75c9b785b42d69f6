"""Houses made up from a seed: any number of solvable games of all six types, with no data file."""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from xplearn import ConfigError, DataError, derive
from xplearn_alfworld.problem import Goal, Problem, Receptacle, TaskType, Thing
from xplearn_alfworld.rooms import SPLITS, Layout, identifier, keyed, layout
from xplearn_alfworld.tables import BY_NAME, FITS, IN_ROOM, LAMP, Kind, Room

VERSION = 1
"""Grows when the same seed, split and index may give another game."""

TYPES: tuple[TaskType, ...] = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""In the order in which they take turns."""

LAYOUTS: Mapping[str, int] = {"train": 40, "valid_seen": 20, "valid_unseen": 20}
"""How many layouts of each kind of room the games of a split are played in."""

HELD_OUT = 5
"""One in so many combinations of type, thing and target is asked for in ``valid_unseen`` and nowhere else."""

OPEN = 0.1
"""How often something that can be opened stands open at the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What the six types differ in."""

    rooms: tuple[Room, ...]
    sentences: tuple[str, str]
    ability: str = ""
    """What things must be able to: to be cleaned, heated, cooled."""
    appliance: str = ""
    """Kind of the receptacle it is done with."""
    count: int = 1


_TASKS: Mapping[TaskType, _Task] = {
    "pick_and_place_simple": _Task(
        rooms=("kitchen", "bedroom", "bathroom", "livingroom"),
        sentences=("put a {thing} in {target}", "put some {thing} on {target}"),
    ),
    "look_at_obj_in_light": _Task(
        rooms=("bedroom", "livingroom"),
        sentences=("look at {thing} under the {target}", "examine the {thing} with the {target}"),
    ),
    "pick_clean_then_place_in_recep": _Task(
        rooms=("kitchen", "bathroom"),
        sentences=("put a clean {thing} in {target}", "clean some {thing} and put it in {target}"),
        ability="clean",
        appliance="SinkBasin",
    ),
    "pick_heat_then_place_in_recep": _Task(
        rooms=("kitchen",),
        sentences=("put a hot {thing} in {target}", "heat some {thing} and put it in {target}"),
        ability="heat",
        appliance="Microwave",
    ),
    "pick_cool_then_place_in_recep": _Task(
        rooms=("kitchen",),
        sentences=("put a cool {thing} in {target}", "cool some {thing} and put it in {target}"),
        ability="cool",
        appliance="Fridge",
    ),
    "pick_two_obj_and_place": _Task(
        rooms=("kitchen", "bedroom", "bathroom", "livingroom"),
        sentences=("put two {thing} in {target}", "find two {thing} and put them in {target}"),
        count=2,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What a game is about, before the things in its house are laid out."""

    goal: Goal
    sentence: str
    """The goal in words, without a full stop."""
    layout: Layout

    @property
    def kept_out(self) -> frozenset[str]:
        """Kinds of receptacles where the things asked for are not at the start: there is something to do."""
        return frozenset({self.goal.target, _TASKS[self.goal.type].appliance})


def kind(index: int) -> TaskType:
    """The type of task of game ``index``, whatever the seed and split: any six in a row are of all six."""
    return TYPES[index % len(TYPES)]


def brief(seed: int, split: str, index: int) -> Brief:
    """What game ``index`` of a split asks for, and in which layout: a fraction of the time of ``generate``.

    Raises:
        ConfigError: the split is not known.
        DataError: the index is negative.
    """
    _check(split, index)
    rng = keyed(seed, "alfworld.brief", split, index)
    type = kind(index)
    options: list[tuple[str, str]] = []
    while not options:
        (room,) = rng.choices(_TASKS[type].rooms, [len(asked(type, room, split)) for room in _TASKS[type].rooms])
        standing = layout(seed, split, room, rng.randrange(LAYOUTS[split]))
        options = [pair for pair in asked(type, room, split) if _possible(type, pair, standing)]
    thing = rng.choice(sorted({thing for thing, _ in options}))
    target = rng.choice([target for name, target in options if name == thing])
    sentence = rng.choice(_TASKS[type].sentences).format(thing=thing.lower(), target=target.lower())
    return Brief(goal=Goal(type=type, thing=thing, target=target), sentence=sentence, layout=standing)


def generate(seed: int, split: str, index: int) -> tuple[Problem, str]:
    """Game ``index`` of a split, and its goal in words: the same for the same arguments, and solvable.

    Splits: ``train``, ``valid_seen`` and ``valid_unseen``; no layout of a room is in two of them. ``valid_seen`` asks for the same
    combinations of type, thing and target as ``train``, ``valid_unseen`` for combinations that occur in no other split.

    Raises:
        ConfigError: the split is not known.
        DataError: the index is negative.
    """
    about = brief(seed, split, index)
    rng = keyed(seed, "alfworld.house", split, index)
    problem = Problem(
        name=f"house_{seed}_{split}_{index}",
        start=about.layout.start,
        receptacles=tuple(_left(receptacle, rng) for receptacle in about.layout.receptacles),
        things=_things(about, rng),
        fits=FITS,
        goal=about.goal,
    )
    return problem, about.sentence


@functools.cache
def asked(type: TaskType, room: Room, split: str) -> tuple[tuple[str, str], ...]:
    """(thing, target) that games of this type in such a room may ask for in this split."""
    pairs = [(thing.name, target) for thing in IN_ROOM[room] for target in _targets(_TASKS[type], thing, type)]
    unseen = split == "valid_unseen"
    return tuple(pair for pair in pairs if (derive(0, "alfworld.held_out", type, *pair) % HELD_OUT == 0) is unseen)


def _targets(task: _Task, thing: Kind, type: TaskType) -> tuple[str, ...]:
    if not thing.pickupable or (task.ability and task.ability not in thing.abilities):
        return ()
    if type == "look_at_obj_in_light":
        return (LAMP,)
    return tuple(place for place in thing.places if place != task.appliance)


def _possible(type: TaskType, pair: tuple[str, str], standing: Layout) -> bool:
    thing, target = pair
    elsewhere = set(standing.places).intersection(BY_NAME[thing].places) - {target, _TASKS[type].appliance}
    return bool(elsewhere) and (target == LAMP or target in standing.places)


def _left(receptacle: Receptacle, rng: random.Random) -> Receptacle:
    if receptacle.openable and rng.random() < OPEN:
        return replace(receptacle, opened=True)
    return receptacle


def _things(about: Brief, rng: random.Random) -> tuple[Thing, ...]:
    things: dict[str, Thing] = {}
    for kind in IN_ROOM[about.layout.room]:
        for _ in range(_number(kind, about, rng)):
            id = identifier(kind.name, rng, things)
            things[id] = _lay(id, kind, about, rng)
    return tuple(things.values())


def _number(kind: Kind, about: Brief, rng: random.Random) -> int:
    most = kind.most[about.layout.room]
    if kind.name == about.goal.thing:
        least = _TASKS[about.goal.type].count
        return rng.randint(least, max(most, least + 1))
    least = 1 if kind.name == about.goal.target else 0
    return min(most, rng.randint(least, most + 1))


def _lay(id: str, kind: Kind, about: Brief, rng: random.Random) -> Thing:
    kept_out = about.kept_out if kind.name == about.goal.thing else frozenset()
    place = rng.choice([place for place in kind.places if place in about.layout.places and place not in kept_out])
    receptacle = rng.choice(about.layout.places[place])
    return Thing(
        id=id,
        kind=kind.name,
        receptacle=receptacle.id,
        location=receptacle.location,
        pickupable=kind.pickupable,
        cleanable="clean" in kind.abilities,
        heatable="heat" in kind.abilities,
        coolable="cool" in kind.abilities,
        toggleable="toggle" in kind.abilities,
        sliceable="slice" in kind.abilities,
        container="hold" in kind.abilities,
        cool=receptacle.kind == "Fridge" and "cool" in kind.abilities,
    )


def _check(split: str, index: int) -> None:
    if split not in SPLITS:
        raise ConfigError("split", f"'{split}' is not one of {', '.join(SPLITS)}")
    if index < 0:
        raise DataError(f"{split}/{index}", "no game has a negative number")
