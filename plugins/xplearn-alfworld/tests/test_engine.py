"""The engine in the little house: every sentence, every quirk of the original."""

from __future__ import annotations

import pytest
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.naming import shown
from xplearn_alfworld.pddl import parse
from xplearn_alfworld.problem import Goal, Problem, Receptacle, Thing
from xplearn_alfworld.world import World

from xplearn import DataError

INTRO = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a countertop 1, "
    "a drawer 2, a drawer 1, a fridge 1, a microwave 1, a shelf 1, a sidetable 1, a sinkbasin 1, a stoveburner 2, and a stoveburner 1.\n\n"
    "Your task is to: do what is asked."
)


def play(engine, *commands):
    """The last thing seen; every command must do something."""
    for command in commands:
        seen = engine.act(command)
        assert seen is not None, command
    return seen


def test_the_first_observation_lists_the_furniture_and_states_the_goal(game):
    assert game().intro() == INTRO


def test_commands_at_the_start_are_sorted_as_text(game):
    places = "countertop 1,drawer 1,drawer 2,fridge 1,microwave 1,shelf 1,sidetable 1,sinkbasin 1,stoveburner 1,stoveburner 2"
    assert game().commands() == (*(f"go to {place}" for place in places.split(",")), "help", "inventory", "look")


def test_numbers_count_down_along_the_sorted_ids_of_a_kind():
    ids = [
        "Mug_bar__plus_2",
        "Mug_bar__minus_1",
        "mug_bar__plus_1",
        "Sink_bar_1_bar_SinkBasin",
        "Sink_bar_2",
        "Bathtub_bar_1_bar_SinkBasin",
    ]
    assert shown(ids) == {
        "Mug_bar__minus_1": "mug 3",
        "mug_bar__plus_1": "mug 2",
        "Mug_bar__plus_2": "mug 1",
        "Sink_bar_1_bar_SinkBasin": "sinkbasin 1",
        "Sink_bar_2": "sink 1",
        "Bathtub_bar_1_bar_SinkBasin": "bathtubbasin 1",
    }


@pytest.mark.parametrize(
    ("commands", "seen"),
    [
        (["look"], "You are in the middle of a room. Looking quickly around you, you see nothing."),
        (["inventory"], "You are not carrying anything."),
        (["go to shelf 1"], "You arrive at shelf 1. On the shelf 1, you see a teddybear 1."),
        (["go to sinkbasin 1"], "You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing."),
        (["go to fridge 1"], "You arrive at fridge 1. The fridge 1 is closed."),
        (["go to fridge 1", "examine fridge 1"], "The fridge 1 is closed."),
        (["go to fridge 1", "open fridge 1"], "You open the fridge 1. The fridge 1 is open. In it, you see a apple 2."),
        (["go to fridge 1", "open fridge 1", "look"], "You are facing the fridge 1. Next to it, you see nothing."),
        (["go to fridge 1", "open fridge 1", "close fridge 1"], "You close the fridge 1."),
        (["go to stoveburner 1"], "You arrive at stoveburner 1. On the stoveburner 1, you see a pot 1."),
        (["go to drawer 1", "look"], "You are facing the drawer 2, and drawer 1. Next to it, you see nothing."),
        (
            ["go to countertop 1"],
            "You arrive at countertop 1. On the countertop 1, you see a apple 1, a knife 1, a mug 1, and a spoon 1.",
        ),
        (["go to countertop 1", "take mug 1 from countertop 1"], "You pick up the mug 1 from the countertop 1."),
        (["go to countertop 1", "take mug 1 from countertop 1", "inventory"], "You are carrying: a mug 1."),
        (["go to countertop 1", "take mug 1 from countertop 1", "examine mug 1"], "This is a normal mug 1. In it, you see a spoon 1."),
        (["go to countertop 1", "take knife 1 from countertop 1", "examine knife 1"], "There's nothing special about knife 1."),
        (["go to countertop 1", "take mug 1 from countertop 1", "move mug 1 to countertop 1"], "You move the mug 1 to the countertop 1."),
        (["go to sidetable 1", "use desklamp 1"], "You turn on the desklamp 1."),
        (["go to sidetable 1", "use desklamp 1", "use desklamp 1"], "You turn on the desklamp 1."),
    ],
)
def test_sentences(game, commands, seen):
    assert play(game(), *commands) == seen


def test_help_begins_and_ends_with_its_list(game):
    seen = play(game(), "help")
    assert seen.startswith("Available commands:\n  look:                             look around your current location\n")
    assert seen.endswith("  slice (object) with (object):     slice an object using a sharp object\n")


CLEAN = ["go to sinkbasin 1", "clean apple 1 with sinkbasin 1"]
HEAT = ["go to microwave 1", "heat apple 1 with microwave 1"]
COOL = ["go to fridge 1", "cool apple 1 with fridge 1"]
SLICE = [
    "go to countertop 1",
    "take knife 1 from countertop 1",
    "slice apple 1 with knife 1",
    "slice apple 1 with knife 1",
    "move knife 1 to countertop 1",
]
TAKE = ["go to countertop 1", "take apple 1 from countertop 1"]


@pytest.mark.parametrize(
    ("commands", "seen"),
    [
        (TAKE, "There's nothing special about apple 1."),
        ([*TAKE, *CLEAN], "This is a clean apple 1."),
        ([*TAKE, *HEAT], "This is a hot apple 1."),
        ([*TAKE, *COOL], "This is a cold apple 1."),
        ([*TAKE, *HEAT, *COOL], "This is a cold apple 1."),
        ([*TAKE, *COOL, *HEAT], "This is a hot apple 1."),
        ([*TAKE, *CLEAN, *HEAT], "This is a hot and clean apple 1."),
        ([*TAKE, *CLEAN, *COOL], "This is a cool and clean apple 1."),
        ([*SLICE, TAKE[1]], "This is a sliced apple 1."),
        ([*SLICE, TAKE[1], *HEAT], "This is a hot sliced apple 1."),
        ([*SLICE, TAKE[1], *COOL], "This is a cool sliced apple 1."),
        ([*SLICE, TAKE[1], *CLEAN], "This is a clean sliced apple 1."),
        ([*SLICE, TAKE[1], *CLEAN, *HEAT], "This is a hot and clean sliced apple 1."),
        ([*SLICE, TAKE[1], *CLEAN, *COOL], "This is a cool and clean sliced apple 1."),
    ],
)
def test_a_thing_in_hands_looks_as_it_was_treated(game, commands, seen):
    assert play(game(), *(command for command in commands), "examine apple 1") == seen


def test_what_is_in_the_fridge_at_the_start_is_cold(game):
    fetched = ["go to fridge 1", "open fridge 1", "take apple 2 from fridge 1"]
    assert play(game(), *fetched, "examine apple 2") == "This is a cold apple 2."


@pytest.mark.parametrize(
    ("before", "command"),
    [
        (["go to drawer 1"], "go to drawer 1"),
        (["go to drawer 1"], "go to drawer 2"),
        (["go to countertop 1"], "examine mug 1"),
        (["go to countertop 1", "take mug 1 from countertop 1"], "take spoon 1 from countertop 1"),
        (["go to fridge 1"], "take apple 2 from fridge 1"),
        (["go to countertop 1", "take mug 1 from countertop 1", "go to drawer 1"], "move mug 1 to drawer 1"),
        (["go to shelf 1", "take teddybear 1 from shelf 1"], "move teddybear 1 to shelf 1"),
        (["go to sidetable 1"], "take desklamp 1 from sidetable 1"),
        (["go to shelf 1"], "close shelf 1"),
        ([], "Look"),
        ([], "go  to shelf 1"),
        ([], "go to shelf 1."),
        ([], ""),
    ],
)
def test_nothing_happens_where_the_original_does_nothing(game, before, command):
    engine = game()
    for done in before:
        play(engine, done)
    commands = engine.commands()
    assert engine.act(command) is None
    assert engine.commands() == commands


def test_heating_needs_no_open_door_and_slicing_only_the_place(game):
    engine = game()
    play(engine, "go to countertop 1", "take knife 1 from countertop 1", "go to fridge 1")
    assert "slice apple 2 with knife 1" in engine.commands()
    assert "open fridge 1" in engine.commands()


def test_next_to_it_lies_what_went_from_one_receptacle_to_another_here(game):
    engine = game()
    play(engine, "go to drawer 2", "open drawer 2", "open drawer 1", "take mug 2 from drawer 2")
    assert play(engine, "look").endswith("you see nothing.")
    play(engine, "move mug 2 to drawer 1")
    assert play(engine, "look") == "You are facing the drawer 2, and drawer 1. Next to it, you see a mug 2."
    play(engine, "take mug 2 from drawer 1", "move mug 2 to drawer 2")
    assert play(engine, "look") == "You are facing the drawer 2, and drawer 1. Next to it, you see a mug 2."
    play(engine, "take mug 2 from drawer 2", "go to shelf 1", "move mug 2 to shelf 1")
    assert play(engine, "look").endswith("you see nothing.")


def test_a_thing_in_two_receptacles_stays_in_the_other_when_taken(game):
    engine = game()
    play(engine, "go to stoveburner 1", "take pot 1 from stoveburner 1")
    assert play(engine, "examine stoveburner 2") == "On the stoveburner 2, you see a pot 1."
    assert play(engine, "examine stoveburner 1") == "On the stoveburner 1, you see nothing."
    play(engine, "go to countertop 1", "move pot 1 to countertop 1", "go to stoveburner 2")
    assert "take pot 1 from stoveburner 2" in engine.commands()


def test_copies_and_snapshots_are_independent(game):
    engine = game()
    play(engine, "go to countertop 1", "take mug 1 from countertop 1")
    snapshot, twin = engine.snapshot(), engine.copy()
    play(engine, "go to shelf 1", "move mug 1 to shelf 1")
    assert (engine.won, twin.won) == (True, False)
    engine.restore(snapshot)
    assert not engine.won
    assert engine.commands() == twin.commands()
    assert play(engine, "inventory") == "You are carrying: a mug 1."


@pytest.mark.parametrize(
    ("receptacles", "things", "message"),
    [
        (
            ["Shelf_bar_1"],
            [Thing(id="Mug_bar_1", kind="Mug", receptacle="Desk_bar_1")],
            "Mug_bar_1 is in 'Desk_bar_1', which is no receptacle",
        ),
        (["Shelf"], [], "Shelf: is not the id of an object or receptacle"),
    ],
)
def test_a_problem_that_names_what_it_lacks_is_refused(receptacles, things, message):
    goal = Goal(type="pick_and_place_simple", thing="Mug", target="Shelf")
    places = tuple(Receptacle(id=id, kind="Shelf", location="there") for id in receptacles)
    problem = Problem(name="odd", start="here", receptacles=places, things=tuple(things), fits=frozenset(), goal=goal)
    with pytest.raises(DataError, match=message):
        Engine(problem, "?")


def test_a_game_that_begins_at_a_receptacle_faces_it(little):
    engine = Engine(parse(little().replace("(atLocation agent1 loc_start)", "(atLocation agent1 loc_drawers)")), "x")
    assert engine.intro() == (
        "-= Welcome to TextWorld, ALFRED! =-\n\nYou are facing the drawer 2, and drawer 1. Next to it, you see nothing.\n\n"
        "Your task is to: x."
    )


def test_the_state_is_numbers_into_the_world(little):
    world = World(parse(little()))
    assert [place.id for place in world.receptacles][:3] == ["CounterTop_bar_1", "Drawer_bar_1", "Drawer_bar_2"]
    assert world.places[1:3] == ("drawer 2", "drawer 1")
