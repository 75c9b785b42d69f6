"""The scripted expert: short ways by admissible commands, from the start and from wherever play has led."""

from __future__ import annotations

import json
import lzma
import random

import pytest
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.oracle import plan
from xplearn_alfworld.pddl import parse

from xplearn import DataError

MOST = 15
TYPES = [
    "pick_and_place_simple",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
    "look_at_obj_in_light",
]


def follow(engine):
    """Play the plan on a copy: every command admissible, won by the last and not before."""
    commands, twin = plan(engine), engine.copy()
    for command in commands:
        assert not twin.won
        assert command in twin.commands()
        twin.act(command)
    assert twin.won
    return commands


def wander(engine, rng, steps):
    """Random admissible commands, every verb as likely as the others, while the game is not won."""
    for _ in range(steps):
        verbs = {}
        for command in engine.commands():
            verbs.setdefault(command.split()[0], []).append(command)
        before = engine.snapshot()
        engine.act(rng.choice(verbs[rng.choice(sorted(verbs))]))
        if engine.won:
            engine.restore(before)


@pytest.mark.parametrize("type", TYPES)
def test_every_type_is_won_in_few_steps_and_the_game_stays_as_it_was(game, type):
    engine = game(type)
    before = engine.snapshot()
    assert len(follow(engine)) <= 9
    assert engine.snapshot() == before


@pytest.mark.parametrize(
    ("type", "done", "expected"),
    [
        ("pick_and_place_simple", [], ("go to countertop 1", "take mug 1 from countertop 1", "go to shelf 1", "move mug 1 to shelf 1")),
        (
            "pick_heat_then_place_in_recep",
            ["go to countertop 1", "take apple 1 from countertop 1", "go to microwave 1", "heat apple 1 with microwave 1"],
            ("go to countertop 1", "move apple 1 to countertop 1"),
        ),
        (
            "pick_heat_then_place_in_recep",
            ["go to fridge 1", "open fridge 1", "take apple 2 from fridge 1"],
            ("go to microwave 1", "heat apple 2 with microwave 1", "go to countertop 1", "move apple 2 to countertop 1"),
        ),
        (
            "pick_two_obj_and_place",
            ["go to countertop 1", "take mug 1 from countertop 1", "go to shelf 1", "move mug 1 to shelf 1"],
            ("go to drawer 2", "open drawer 2", "take mug 2 from drawer 2", "go to shelf 1", "move mug 2 to shelf 1"),
        ),
        (
            "look_at_obj_in_light",
            ["go to sidetable 1", "use desklamp 1", "go to countertop 1", "take mug 1 from countertop 1"],
            ("go to sidetable 1",),
        ),
        (
            "look_at_obj_in_light",
            ["go to countertop 1", "take knife 1 from countertop 1", "go to sidetable 1"],
            (
                "move knife 1 to sidetable 1",
                "go to countertop 1",
                "take mug 1 from countertop 1",
                "go to sidetable 1",
                "use desklamp 1",
            ),
        ),
        ("look_at_obj_in_light", ["go to countertop 1", "take mug 1 from countertop 1", "go to sidetable 1"], ("use desklamp 1",)),
    ],
)
def test_what_is_done_already_is_not_done_again(game, type, done, expected):
    engine = game(type)
    for command in done:
        engine.act(command)
    assert follow(engine) == expected


def test_nothing_is_left_to_do_where_the_game_is_won(game):
    engine = game()
    for command in plan(engine):
        engine.act(command)
    assert plan(engine) == ()


@pytest.mark.parametrize("type", TYPES)
def test_from_anywhere_there_is_a_way(game, type):
    engine, rng = game(type), random.Random(type)
    tried = 0
    for _ in range(60):
        wander(engine, rng, 3)
        if engine.commands() and engine.state.holding >= 0 and not engine.world.fits[engine.state.holding]:
            engine.restore(engine.world.start())  # the teddy bear can be taken, and then nothing else can
            continue
        assert len(follow(engine)) <= MOST
        tried += 1
    assert tried > 10


@pytest.mark.parametrize(
    ("type", "old", "new", "message"),
    [
        (
            "pick_and_place_simple",
            "(receptacleType Shelf_bar_1 ShelfType)",
            "(receptacleType Shelf_bar_1 DrawerType)",
            "it needs 1 Mug that can be",
        ),
        ("pick_and_place_simple", "(canContain ShelfType MugType)", "", "it needs 1 Mug that can be taken and put into a Shelf"),
        (
            "pick_clean_then_place_in_recep",
            "SinkBasinType)",
            "ShelfType)",
            "it needs 1 Mug that can be taken, put through 'clean' and put into",
        ),
        (
            "pick_heat_then_place_in_recep",
            "(heatable Apple_bar_",
            "(cleanable Apple_bar_",
            "it needs 1 Apple that can be taken, put through 'heat'",
        ),
        ("pick_two_obj_and_place", "(inReceptacle Mug_bar_1 Drawer_bar_1)", "", "it needs 2 Mug that can be taken"),
        ("look_at_obj_in_light", "(toggleable DeskLamp_bar_1)", "", "it needs a Mug that can be taken and a DeskLamp that can be used"),
    ],
)
def test_a_game_without_a_way_is_named_with_what_it_needs(game, little, type, old, new, message):
    text = little(type)
    assert old in text
    with pytest.raises(DataError) as caught:
        plan(game(type, text.replace(old, new)))
    assert str(caught.value).startswith(f"little_{type}: cannot be solved from here ({type}, ")
    assert message in str(caught.value)


def test_a_dead_end_says_what_is_stuck_in_the_hands(game):
    engine = game()
    engine.act("go to shelf 1")
    engine.act("take teddybear 1 from shelf 1")
    with pytest.raises(DataError, match="nothing is made for the teddybear 1 in the hands"):
        plan(engine)


def released(folder, name, every):
    with lzma.open(folder / f"{name}.jsonl.xz", "rt") as file:
        for number, line in enumerate(file):
            if number % every == 0:
                yield json.loads(line)


def test_seen_games_are_won_from_the_start_and_from_wherever_play_leads(data_folder):
    rng, plans = random.Random(0), 0
    for row in released(data_folder, "valid_seen", 4):
        engine = Engine(parse(row["problem"], source=row["id"]), row["goal"])
        for _ in range(4):
            if engine.state.holding < 0 or engine.world.fits[engine.state.holding]:
                assert len(plan(engine)) <= MOST
                plans += 1
                follow(engine)
            wander(engine, rng, 12)
    assert plans > 100


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("train", 3554), ("valid_train", 200), ("valid_seen", 140)])
def test_every_released_game_is_won_within_fifteen_steps(data_folder, name, count):
    lengths = [len(follow(Engine(parse(row["problem"], source=row["id"]), row["goal"]))) for row in released(data_folder, name, 1)]
    assert (len(lengths), min(lengths) >= 1, max(lengths) <= MOST) == (count, True, True)
