"""The expert that searches: it wins, and knows nothing that it has not been shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.environment import AlfWorld
from xplearn_alfworld.explorer import explore
from xplearn_alfworld.houses import generate
from xplearn_alfworld.world import World

from xplearn import ConfigError

TYPES = [
    "pick_and_place_simple",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
    "look_at_obj_in_light",
]


@pytest.mark.parametrize("type", TYPES)
def test_every_type_is_won_by_admissible_commands_and_the_game_stays_as_it_was(game, type):
    engine = game(type)
    before, twin = engine.snapshot(), engine.copy()
    for command in explore(engine):
        assert not twin.won
        assert command in twin.commands()
        twin.act(command)
    assert twin.won
    assert engine.snapshot() == before


def test_generated_houses_are_won_by_searching():
    explorer, oracle = AlfWorld(demonstrations="explorer"), AlfWorld()
    tasks = [task for split in explorer.splits() for task in explorer.tasks(split)[:60]]
    ways = [explorer.demonstrate(task, seed=0) for task in tasks]
    assert all(way.success for way in ways)
    lengths = sorted(len(way.steps) for way in ways)
    assert lengths[-1] <= 40
    assert sum(len(oracle.demonstrate(task, seed=0).steps) for task in tasks) < sum(lengths)


def test_the_search_does_not_depend_on_what_has_not_been_seen():
    """Put what is asked for somewhere else, and up to where it used to be found everything is done as before."""
    compared = 0
    for index in range(0, 240, 6):
        problem, sentence = generate(0, "train", index)
        commands = explore(Engine(problem, sentence))
        found = next(number for number, command in enumerate(commands) if command.startswith("take"))
        elsewhere = _moved(problem, commands[:found])
        if elsewhere is not None:
            assert explore(Engine(elsewhere, sentence))[:found] == commands[:found]
            compared += 1
    assert compared >= 10


def _moved(problem, commands):
    """The same house with the things asked for in a receptacle that these commands never name."""
    names = {place.id: name for place, name in zip(World(problem).receptacles, World(problem).places, strict=True)}
    goal = problem.goal
    for place in problem.receptacles:
        visited = any(command.endswith(f" {names[place.id]}") for command in commands)
        if place.kind != goal.target and (place.kind, goal.thing) in problem.fits and not visited:
            there = {"receptacle": place.id, "location": place.location}
            things = (replace(thing, **there) if thing.kind == goal.thing else thing for thing in problem.things)
            return replace(problem, things=tuple(things))
    return None


def test_released_games_are_won_by_searching(data_folder):
    env = AlfWorld(data=str(data_folder / "valid_seen.jsonl.xz"), demonstrations="explorer")
    assert all(env.demonstrate(task, seed=0).success for task in env.tasks("valid_seen"))


def test_an_unknown_expert_is_named():
    with pytest.raises(ConfigError, match="want oracle or explorer"):
        AlfWorld(demonstrations="handcoded")
