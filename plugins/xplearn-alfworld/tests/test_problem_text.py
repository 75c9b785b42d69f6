"""A problem written as PDDL reads back as itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xplearn_alfworld.houses import TYPES, generate
from xplearn_alfworld.pddl import parse
from xplearn_alfworld.problem import Goal, Problem, Receptacle, Thing
from xplearn_alfworld.problem_text import problem_text

ODD = Problem(
    name="odd",
    start="loc_bar_0",
    receptacles=(
        Receptacle(id="Drawer_bar_1", kind="Drawer", location="loc_bar_1", openable=True, opened=True),
        Receptacle(id="StoveBurner_bar_1", kind="StoveBurner", location="loc_bar_2"),
        Receptacle(id="StoveBurner_bar_2", kind="StoveBurner", location="loc_bar_2"),
    ),
    things=(
        Thing(id="Pot_bar_1", kind="Pot", receptacle="StoveBurner_bar_1", also_in=("StoveBurner_bar_2",), container=True, cool=True),
        Thing(id="Egg_bar_1", kind="Egg", inside=("Pot_bar_1",), location="loc_bar_2", heatable=True),
        Thing(id="Window_bar_1", kind="Window", location="loc_bar_9"),
        Thing(id="Spoon_bar_1", kind="Spoon", pickupable=True, cleanable=True),
    ),
    fits=frozenset({("Drawer", "Spoon"), ("Cabinet", "Kettle")}),
    goal=Goal(type="pick_and_place_simple", thing="Spoon", target="Drawer"),
)
"""Of everything that a record can hold, something."""


@pytest.mark.parametrize("split", ["train", "valid_seen", "valid_unseen"])
def test_generated_houses_read_back_as_themselves(split):
    for index in range(12):
        problem, _ = generate(5, split, index)
        assert parse(problem_text(problem)) == problem


def test_everything_a_record_can_hold_is_written():
    assert parse(problem_text(ODD)) == ODD


@pytest.mark.parametrize("type", TYPES)
def test_every_type_of_goal_reads_back(type):
    problem = replace(ODD, goal=Goal(type=type, thing="Spoon", target="Lamp" if type == "look_at_obj_in_light" else "Safe"))
    assert parse(problem_text(problem)) == problem


def test_kinds_that_the_rules_name_are_always_declared():
    text = problem_text(ODD)
    assert all(f"{kind}Type - rtype" in text for kind in ("Fridge", "Microwave", "SinkBasin", "Cabinet"))
    assert all(f"{kind}Type - otype" in text for kind in ("Knife", "ButterKnife", "Kettle"))


def test_the_text_is_the_same_every_time():
    assert problem_text(generate(0, "train", 3)[0]) == problem_text(generate(0, "train", 3)[0])
