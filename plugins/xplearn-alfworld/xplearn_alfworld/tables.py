"""What things there are in a home, what can be done with them, and where they lie: our own tables, written from everyday life."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Room = Literal["kitchen", "bedroom", "bathroom", "livingroom"]
"""The kinds of room a house consists of; a game is played in one."""

LAMP = "DeskLamp"
"""The kind of lamp that things are looked at under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of thing."""

    name: str
    abilities: frozenset[str]
    """Out of ``clean``, ``heat``, ``cool``, ``slice``, ``toggle`` and ``hold`` (other things)."""
    places: tuple[str, ...]
    """Kinds of receptacles that it may be in or on."""
    most: Mapping[Room, int]
    """How many a room has at most, by the rooms it occurs in."""

    @property
    def pickupable(self) -> bool:
        """Lamps stay where they stand."""
        return "toggle" not in self.abilities


def _kind(name: str, abilities: str, places: str, **most: int) -> Kind:
    rooms: dict[Room, int] = {room: most[room] for room in ROOMS if room in most}
    return Kind(name=name, abilities=frozenset(abilities.split()), places=tuple(places.split()), most=rooms)


ROOMS: tuple[Room, ...] = ("kitchen", "bedroom", "bathroom", "livingroom")

TABLES = "CoffeeTable CounterTop Desk DiningTable Dresser SideTable"
"""Whatever has a wide flat top."""
SEATS = "ArmChair Bed Ottoman Sofa"
KITCHEN = "CounterTop DiningTable SideTable SinkBasin"
"""Where things of the kitchen are left about."""
DISHES = f"{KITCHEN} Cabinet Fridge Microwave Shelf"
BATH = "BathtubBasin Cabinet CounterTop Drawer Shelf SinkBasin Toilet"
DESK_WORK = f"{TABLES} Drawer Shelf"
"""Where small things of the day gather."""

KINDS: tuple[Kind, ...] = (
    _kind("Apple", "clean heat cool slice", f"{KITCHEN} Fridge GarbageCan Microwave", kitchen=2),
    _kind("Bread", "heat cool slice", "CounterTop DiningTable Fridge GarbageCan Microwave SideTable", kitchen=2),
    _kind("Egg", "clean heat cool slice", f"{KITCHEN} Fridge GarbageCan Microwave", kitchen=2),
    _kind("Lettuce", "clean cool slice", f"{KITCHEN} Fridge GarbageCan", kitchen=2),
    _kind("Potato", "clean heat cool slice", f"{KITCHEN} Fridge GarbageCan Microwave", kitchen=2),
    _kind("Tomato", "clean heat cool slice", f"{KITCHEN} Fridge GarbageCan Microwave", kitchen=2),
    _kind("WineBottle", "cool", "Cabinet CounterTop DiningTable Fridge GarbageCan Shelf", kitchen=2),
    _kind("Bowl", "clean heat cool hold", f"{DISHES} CoffeeTable Dresser", kitchen=2, bedroom=1, livingroom=1),
    _kind("Cup", "clean heat cool hold", f"{DISHES} CoffeeMachine", kitchen=3),
    _kind("Mug", "clean heat cool hold", f"{DISHES} CoffeeMachine Desk", kitchen=3, bedroom=1),
    _kind("Plate", "clean heat cool hold", f"{DISHES} CoffeeTable", kitchen=3, livingroom=1),
    _kind("Pan", "clean cool hold", f"{KITCHEN} Cabinet Fridge StoveBurner", kitchen=2),
    _kind("Pot", "clean cool hold", f"{KITCHEN} Cabinet Fridge StoveBurner", kitchen=2),
    _kind("Kettle", "clean", f"{KITCHEN} Cabinet StoveBurner", kitchen=1),
    _kind("ButterKnife", "clean", f"{KITCHEN} Drawer", kitchen=2),
    _kind("Fork", "clean", f"{KITCHEN} Drawer", kitchen=3),
    _kind("Knife", "clean", f"{KITCHEN} Drawer", kitchen=2),
    _kind("Ladle", "clean", f"{KITCHEN} Cabinet Drawer", kitchen=2),
    _kind("Spatula", "clean", f"{KITCHEN} Drawer", kitchen=2),
    _kind("Spoon", "clean", f"{KITCHEN} Drawer", kitchen=3),
    _kind("PepperShaker", "", "Cabinet CounterTop DiningTable Drawer Shelf SideTable StoveBurner", kitchen=2),
    _kind("SaltShaker", "", "Cabinet CounterTop DiningTable Drawer Shelf SideTable StoveBurner", kitchen=2),
    _kind("DishSponge", "clean", f"{BATH} DiningTable GarbageCan", kitchen=2, bathroom=1),
    _kind("PaperTowelRoll", "", "CounterTop DiningTable GarbageCan Shelf SideTable", kitchen=1),
    _kind("SoapBottle", "", f"{BATH} GarbageCan", kitchen=2, bathroom=2),
    _kind("Candle", "", f"{BATH} CoffeeTable DiningTable SideTable TVStand", bathroom=2, livingroom=1),
    _kind("Cloth", "clean", f"{BATH} GarbageCan LaundryHamper", bedroom=1, bathroom=3),
    _kind("HandTowel", "", "CounterTop HandTowelHolder SinkBasin", bathroom=2),
    _kind("Plunger", "", "Cabinet CounterTop Shelf", bathroom=1),
    _kind("ScrubBrush", "", "BathtubBasin Cabinet CounterTop", bathroom=1),
    _kind("SoapBar", "clean", f"{BATH} GarbageCan", bathroom=2),
    _kind("SprayBottle", "", "Cabinet CounterTop GarbageCan Shelf Toilet", bathroom=2),
    _kind("ToiletPaper", "", "Cabinet CounterTop Drawer GarbageCan Shelf Toilet ToiletPaperHanger", bathroom=3),
    _kind("Towel", "", "BathtubBasin CounterTop TowelHolder", bathroom=2),
    _kind("AlarmClock", "", f"{DESK_WORK} Bed", bedroom=2),
    _kind("BaseballBat", "", "Bed Desk Sofa", bedroom=1),
    _kind("BasketBall", "", "ArmChair Bed Desk Sofa", bedroom=1),
    _kind("Book", "", f"{TABLES} {SEATS} Cabinet Drawer Shelf TVStand", kitchen=1, bedroom=2, livingroom=2),
    _kind("Box", "hold", f"{TABLES} {SEATS}", bedroom=1, livingroom=2),
    _kind("CD", "", f"{DESK_WORK} Bed GarbageCan Safe", bedroom=3),
    _kind("CellPhone", "", f"{DESK_WORK} {SEATS} Safe", bedroom=3, livingroom=1),
    _kind("CreditCard", "", f"{DESK_WORK} ArmChair Safe Sofa TVStand", kitchen=1, bedroom=3, livingroom=3),
    _kind("KeyChain", "", f"{DESK_WORK} {SEATS} Safe TVStand", bedroom=3, livingroom=3),
    _kind("Laptop", "", f"{TABLES} {SEATS}", bedroom=2, livingroom=2),
    _kind("Newspaper", "", f"{TABLES} {SEATS} Drawer GarbageCan Shelf TVStand", livingroom=2),
    _kind("Pen", "", f"{DESK_WORK} Bed GarbageCan", bedroom=3, livingroom=1),
    _kind("Pencil", "", f"{DESK_WORK} Bed GarbageCan", bedroom=3, livingroom=1),
    _kind("Pillow", "", SEATS, bedroom=3, livingroom=3),
    _kind("RemoteControl", "", f"{DESK_WORK} {SEATS} TVStand", bedroom=1, livingroom=3),
    _kind("Statue", "", f"{TABLES} Safe Shelf TVStand", kitchen=1, bedroom=1, livingroom=3),
    _kind("TeddyBear", "", SEATS, bedroom=1),
    _kind("TennisRacket", "", "Bed Desk", bedroom=1),
    _kind("TissueBox", "", f"{TABLES} Cabinet Drawer Shelf Toilet TVStand", bedroom=2, bathroom=2, livingroom=2),
    _kind("Vase", "", f"{TABLES} Cabinet Safe Shelf TVStand", kitchen=1, bedroom=1, livingroom=3),
    _kind("Watch", "", f"{DESK_WORK} Safe TVStand", bedroom=2, livingroom=2),
    _kind("WateringCan", "", "CoffeeTable DiningTable Drawer Shelf SideTable", livingroom=1),
    _kind(LAMP, "toggle", "Desk Dresser SideTable", bedroom=1, livingroom=1),
)

BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}

IN_ROOM: Mapping[Room, tuple[Kind, ...]] = {room: tuple(kind for kind in KINDS if room in kind.most) for room in ROOMS}

FITS: frozenset[tuple[str, str]] = frozenset((place, kind.name) for kind in KINDS for place in kind.places)
"""(receptacle kind, object kind) for what may be put where; the same in every house."""
