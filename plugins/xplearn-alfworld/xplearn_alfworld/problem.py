"""A game as data: what stands where at the start, and what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TaskType = Literal[
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
]
"""The six kinds of task, by their names in the release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receptacle:
    """A piece of furniture or an appliance: things are in or on it, and one can go to it."""

    id: str
    """Its name in PDDL, e.g. ``Drawer_bar__plus_02_dot_25``; what precedes ``_bar_`` is shown."""
    kind: str
    """E.g. ``Drawer`` or ``SinkBasin``: its ``receptacleType`` without ``Type``."""
    location: str
    """Where one stands to use it; several may share a location."""
    openable: bool = False
    opened: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """An object, portable or not."""

    id: str
    """Its name in PDDL, e.g. ``Mug_bar__minus_00_dot_32``."""
    kind: str
    """E.g. ``Mug``: its ``objectType`` without ``Type``."""
    receptacle: str | None = None
    """Id of the receptacle it is in or on, or None."""
    location: str | None = None
    """Its ``objectAtLocation``, or None."""
    pickupable: bool = False
    cleanable: bool = False
    heatable: bool = False
    coolable: bool = False
    toggleable: bool = False
    sliceable: bool = False
    cool: bool = False
    """Cold from the start."""
    also_in: tuple[str, ...] = ()
    """Ids of further receptacles it is in or on: a pot can stand on three stove burners."""
    container: bool = False
    """Examining it tells what is inside: ``isReceptacleObject``."""
    inside: tuple[str, ...] = ()
    """Ids of the containers it is inside: ``inReceptacleObject``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What must hold for the game to be won."""

    type: TaskType
    thing: str
    """Kind of the object asked for."""
    target: str
    """Kind of the receptacle it must end in; for ``look_at_obj_in_light`` the kind of the lamp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The start of a game."""

    name: str
    start: str
    """Location of the agent."""
    receptacles: tuple[Receptacle, ...]
    things: tuple[Thing, ...]
    fits: frozenset[tuple[str, str]]
    """(receptacle kind, object kind) for what may be put where: ``canContain``."""
    goal: Goal
