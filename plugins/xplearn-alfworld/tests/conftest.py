"""A little house written for these tests, ways to pack it, and the released games where they are at hand."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from pathlib import Path

import pytest
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.pddl import parse

DATA = Path(os.environ.get("XPLEARN_TEST_DATA", Path(__file__).parents[4] / "shared" / "data")) / "alfworld"

PLACED = """(exists (?r - receptacle) (exists (?o - object) (and {also} (inReceptacle ?o ?r)
    (objectType ?o {thing}Type) (receptacleType ?r {target}Type))))"""
GOALS = {
    "pick_and_place_simple": ("Mug", "Shelf", ""),
    "pick_clean_then_place_in_recep": ("Mug", "Shelf", "(cleanable ?o) (isClean ?o)"),
    "pick_heat_then_place_in_recep": ("Apple", "CounterTop", "(heatable ?o) (isHot ?o)"),
    "pick_cool_then_place_in_recep": ("Mug", "Drawer", "(coolable ?o) (isCool ?o)"),
    "pick_two_obj_and_place": ("Mug", "Shelf", ""),
    "look_at_obj_in_light": ("Mug", "DeskLamp", ""),
}
TWO = """(exists (?r - receptacle) (exists (?o1 - object) (and (objectType ?o1 MugType) (receptacleType ?r ShelfType) (inReceptacle ?o1 ?r)
    (exists (?o2 - object) (and (not (= ?o1 ?o2)) (objectType ?o2 MugType) (receptacleType ?r ShelfType) (inReceptacle ?o2 ?r))))))"""
LIGHT = """(exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and (objectType ?ot DeskLampType) (toggleable ?ot)
    (isToggled ?ot) (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))
    (exists (?o - object ?a - agent) (and (objectType ?o MugType) (holds ?a ?o)))"""

PLACES = {
    "CounterTop_bar_1": "loc_counter",
    "Drawer_bar_1": "loc_drawers",
    "Drawer_bar_2": "loc_drawers",
    "Sink_bar_1_bar_SinkBasin": "loc_sink",
    "Microwave_bar_1": "loc_microwave",
    "Fridge_bar_1": "loc_fridge",
    "Shelf_bar_1": "loc_shelf",
    "SideTable_bar_1": "loc_table",
    "StoveBurner_bar_1": "loc_stove",
    "StoveBurner_bar_2": "loc_stove",
}
THINGS = {
    "Mug_bar_1": ("Drawer_bar_1", "pickupable cleanable heatable coolable isReceptacleObject"),
    "Mug_bar_2": ("CounterTop_bar_1", "pickupable cleanable heatable coolable isReceptacleObject"),
    "Spoon_bar_1": ("CounterTop_bar_1", "pickupable cleanable"),
    "Apple_bar_1": ("Fridge_bar_1", "pickupable cleanable heatable coolable sliceable isCool"),
    "Apple_bar_2": ("CounterTop_bar_1", "pickupable cleanable heatable coolable sliceable"),
    "Knife_bar_1": ("CounterTop_bar_1", "pickupable cleanable"),
    "Pot_bar_1": ("StoveBurner_bar_1 StoveBurner_bar_2", "pickupable cleanable isReceptacleObject"),
    "DeskLamp_bar_1": ("SideTable_bar_1", "toggleable"),
    "TeddyBear_bar_1": ("Shelf_bar_1", "pickupable"),
    "Window_bar_1": ("", ""),
}
ROOMY = ("CounterTop", "Drawer", "SinkBasin", "Microwave", "Fridge", "Shelf", "SideTable")
KEPT = ("Mug", "Spoon", "Apple", "Knife")


def kind(id):
    return id.rpartition("_bar_")[2] if id.endswith("Basin") else id.partition("_bar_")[0]


def formula(type):
    if type == "look_at_obj_in_light":
        return LIGHT
    thing, target, also = GOALS[type]
    return TWO if type == "pick_two_obj_and_place" else PLACED.format(thing=thing, target=target, also=also)


def facts():
    yield "atLocation agent1 loc_start"
    for place, location in PLACES.items():
        yield f"receptacleType {place} {kind(place)}Type"
        yield f"receptacleAtLocation {place} {location}"
        if kind(place) in ("Drawer", "Microwave", "Fridge"):
            yield f"openable {place}"
    for thing, (places, flags) in THINGS.items():
        yield f"objectType {thing} {kind(thing)}Type"
        yield from (f"inReceptacle {thing} {place}" for place in places.split())
        yield f"objectAtLocation {thing} {PLACES[places.split()[0]] if places else 'loc_window'}"
        yield from (f"{flag} {thing}" for flag in flags.split())
    yield "inReceptacleObject Spoon_bar_1 Mug_bar_2"
    yield from (f"canContain {place}Type {thing}Type" for place in ROOMY for thing in KEPT)
    yield from (f"canContain {place}Type PotType" for place in ("StoveBurner", "CounterTop"))


def house(type="pick_and_place_simple", goal=None):
    kinds = [*sorted(set(map(kind, THINGS))), "ButterKnife"]
    objects = [
        "agent1 - agent",
        *(f"{name} - otype" for name in (f"{word}Type" for word in kinds)),
        *(f"{name}Type - rtype" for name in dict.fromkeys(map(kind, PLACES))),
        *(f"{name} - location" for name in dict.fromkeys(("loc_start", "loc_window", *PLACES.values()))),
        *(f"{name} - receptacle" for name in PLACES),
        *(f"{name} - object" for name in THINGS),
    ]
    init = "\n".join(f"({fact})" for fact in facts())
    lines = "\n".join(objects)
    head = f"(define (problem little_{type})\n(:domain alfred)\n(:objects\n{lines}\n)"
    return f"{head}\n(:init\n{init}\n)\n(:goal (and {goal or formula(type)})))\n"


def row(id, type="pick_and_place_simple", **changes):
    thing, target, _ = GOALS[type]
    goal = f"bring a {thing.lower()} to the {target.lower()}"
    fields = {"id": id, "type": type, "scene": "LittleHouse", "params": {}, "goal": goal, "human": [f"Please {goal}, dear.", "Another."]}
    return {**fields, "walkthrough": None, "problem": house(type), **changes}


def pack(path, rows):
    lines = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    whole = {".xz": lzma.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
    path.write_bytes(whole(lines))
    return path


@pytest.fixture(scope="session")
def little():
    """The text of a problem: ``little(type)`` or ``little(goal=formula)``."""
    return house


@pytest.fixture(scope="session")
def game():
    """An engine at the start of the little house: ``game(type)``."""
    return lambda kind="pick_and_place_simple", text=None: Engine(parse(text or house(kind)), "do what is asked")


@pytest.fixture(scope="session")
def rows():
    """A row of a packed file: ``rows(id, type, **changes)``."""
    return row


@pytest.fixture(scope="session")
def packing():
    """Write a packed file: ``packing(path, rows)``."""
    return pack


@pytest.fixture
def packed(tmp_path):
    """A packed file with all six types in each of two splits."""
    ids = [(split, type) for split in ("valid_seen", "train") for type in GOALS]
    return pack(tmp_path / "little.jsonl.xz", [row(f"{split}/{type}/trial_{split}", type) for split, type in ids])


@pytest.fixture(scope="session")
def data_folder():
    """The released games."""
    if not DATA.is_dir():
        reason = f"the released ALFWorld games are not in {DATA}; set XPLEARN_TEST_DATA to the folder that holds alfworld/"
        if os.environ.get("CI") == "true":
            pytest.fail(f"needed in CI: {reason}")
        pytest.skip(reason)
    return DATA
