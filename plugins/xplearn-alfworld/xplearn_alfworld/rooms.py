"""Furnished rooms: which receptacles there are, and where they stand."""

from __future__ import annotations

import functools
import hashlib
import itertools
import random
from collections.abc import Container, Mapping
from dataclasses import dataclass

from xplearn import derive
from xplearn_alfworld.problem import Receptacle
from xplearn_alfworld.tables import Room

SPLITS = ("train", "valid_seen", "valid_unseen")

OPENABLE = frozenset({"Cabinet", "Drawer", "Fridge", "Microwave", "Safe"})

FURNITURE: Mapping[Room, Mapping[str, tuple[int, int]]] = {
    "kitchen": {
        "CounterTop": (1, 3),
        "Cabinet": (4, 10),
        "Drawer": (3, 8),
        "SinkBasin": (1, 1),
        "StoveBurner": (4, 4),
        "Fridge": (1, 1),
        "Microwave": (1, 1),
        "CoffeeMachine": (1, 1),
        "Toaster": (1, 1),
        "DiningTable": (0, 2),
        "SideTable": (0, 1),
        "Shelf": (0, 3),
        "GarbageCan": (1, 1),
    },
    "bedroom": {
        "Bed": (1, 2),
        "Desk": (0, 2),
        "SideTable": (1, 2),
        "Dresser": (0, 1),
        "Drawer": (2, 8),
        "Shelf": (0, 5),
        "ArmChair": (0, 1),
        "Cabinet": (0, 2),
        "LaundryHamper": (0, 1),
        "Safe": (0, 1),
        "GarbageCan": (1, 1),
    },
    "bathroom": {
        "SinkBasin": (1, 2),
        "CounterTop": (1, 1),
        "Cabinet": (2, 6),
        "Drawer": (0, 4),
        "Toilet": (1, 1),
        "ToiletPaperHanger": (1, 1),
        "BathtubBasin": (0, 1),
        "TowelHolder": (1, 2),
        "HandTowelHolder": (1, 2),
        "Shelf": (0, 2),
        "GarbageCan": (1, 1),
    },
    "livingroom": {
        "Sofa": (1, 2),
        "ArmChair": (0, 2),
        "Ottoman": (0, 1),
        "CoffeeTable": (1, 2),
        "SideTable": (1, 3),
        "DiningTable": (0, 1),
        "TVStand": (0, 1),
        "Dresser": (0, 1),
        "Drawer": (1, 6),
        "Shelf": (0, 5),
        "Cabinet": (0, 2),
        "Safe": (0, 1),
        "GarbageCan": (1, 1),
    },
}
"""How many of each kind a room has, at least and at most, in the order in which they stand along the walls."""

SHARED = 0.14
"""How often a receptacle is used from the same spot as its neighbour, as drawers of one chest are."""

_BASINS = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A room and its receptacles, empty and closed."""

    room: Room
    receptacles: tuple[Receptacle, ...]
    start: str
    """Location of the agent: nothing is within reach."""
    places: Mapping[str, tuple[Receptacle, ...]]
    """Its receptacles by kind."""


def keyed(seed: int, *key: str | int) -> random.Random:
    """A generator whose draws depend on the seed and key alone."""
    return random.Random(derive(seed, *key))  # noqa: S311 - games hold no secrets


@functools.lru_cache(maxsize=1024)
def layout(seed: int, split: str, room: Room, number: int) -> Layout:
    """The layout of this number.

    Which split a layout belongs to follows from the layout itself: one of another split is drawn again. So no layout of one split
    equals one of another, whatever the numbers and seeds.
    """
    drawn = (_furnish(room, keyed(seed, "alfworld.layout", split, room, number, attempt)) for attempt in itertools.count())
    return next(one for one in drawn if belongs(one) == split)


def belongs(room: Layout) -> str:
    """The split of a layout: a function of nothing but its receptacles and where they stand."""
    standing = sorted(f"{receptacle.id} {receptacle.location}" for receptacle in room.receptacles)
    digest = hashlib.blake2b("\n".join(standing).encode(), digest_size=8).digest()
    return SPLITS[int.from_bytes(digest, "little") % len(SPLITS)]


def identifier(kind: str, rng: random.Random, taken: Container[str]) -> str:
    """A new name in PDDL, of the kind and a point in the room: ``Mug_bar__plus_01_dot_27_bar__plus_00_dot_80_bar__minus_02_dot_05``."""
    while True:
        point = "_bar_".join(map(_coordinate, (rng.randrange(-400, 401), rng.randrange(10, 200), rng.randrange(-400, 401))))
        name = f"{_BASINS[kind]}_bar_{point}_bar_{kind}" if kind in _BASINS else f"{kind}_bar_{point}"
        if name not in taken:
            return name


def _furnish(room: Room, rng: random.Random) -> Layout:
    kinds = [kind for kind, (least, most) in FURNITURE[room].items() for _ in range(rng.randint(least, most))]
    start, *spots = _locations(len(kinds) + 1, rng)
    receptacles: dict[str, Receptacle] = {}
    spot = spots.pop()
    for kind in kinds:
        if receptacles and rng.random() >= SHARED:
            spot = spots.pop()
        id = identifier(kind, rng, receptacles)
        receptacles[id] = Receptacle(id=id, kind=kind, location=spot, openable=kind in OPENABLE)
    places = {kind: tuple(one for one in receptacles.values() if one.kind == kind) for kind in dict.fromkeys(kinds)}
    return Layout(room=room, receptacles=tuple(receptacles.values()), start=start, places=places)


def _locations(count: int, rng: random.Random) -> list[str]:
    """Different spots to stand on: quarter metres, a direction and how far down one looks."""
    spots = rng.sample(range(33 * 33 * 4 * 3), count)
    return [_location(*divmod(spot, 33 * 33)) for spot in spots]


def _location(view: int, square: int) -> str:
    (x, z), (turn, down) = divmod(square, 33), divmod(view, 3)
    return f"loc_bar_{_signed(x - 16)}_bar_{_signed(z - 16)}_bar_{turn}_bar_{(30, 45, 60)[down]}"


def _signed(number: int) -> str:
    return f"_minus_{-number}" if number < 0 else str(number)


def _coordinate(hundredths: int) -> str:
    whole, rest = divmod(abs(hundredths), 100)
    return f"_{'minus' if hundredths < 0 else 'plus'}_{whole:02d}_dot_{rest:02d}"
