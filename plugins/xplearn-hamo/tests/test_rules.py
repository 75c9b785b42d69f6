from __future__ import annotations

import pytest
from xplearn_hamo import rules
from xplearn_hamo.account import Account


def outline(goal, *actions, max_steps=8):
    return list(rules.write(Account(goal=goal, start="", actions=actions), max_steps))


def test_household_moves_join_what_was_done_there_and_numbers_are_dropped():
    assert outline(
        "put a hot plate in shelf",
        "go to sinkbasin 1",
        "take plate 1 from sinkbasin 1",
        "go to microwave 1",
        "heat plate 1 with microwave 1",
        "go to shelf 2",
        "move plate 1 to shelf 2",
    ) == [
        "Go to a sinkbasin and take a plate from it",
        "Go to a microwave and heat the plate with it",
        "Go to a shelf and move the plate to it",
        "Done when the goal holds: put a hot plate in shelf",
    ]


def test_a_search_through_the_room_leaves_only_where_it_ended():
    assert outline(
        "put a plate in shelf",
        *("go to cabinet 1", "open cabinet 1", "close cabinet 1", "go to coffeetable 1", "examine coffeetable 1", "go to coffeetable 2"),
        *("look", "go to sidetable 1", "take plate 1 from sidetable 1", "inventory", "go to shelf 2", "move plate 1 to shelf 2"),
    ) == [
        "Go to a sidetable and take a plate from it",
        "Go to a shelf and move the plate to it",
        "Done when the goal holds: put a plate in shelf",
    ]


def test_a_second_thing_of_a_type_is_a_new_one():
    lines = outline("put two cups in drawer", "take cup 3 from shelf 1", "open drawer 4", "take cup 2 from table 1", "open drawer 4")
    assert lines[:-1] == ["Take a cup from a shelf", "Open a drawer", "Take a cup from a table", "Open the drawer"]


def test_laboratory_commands_read_as_sentences():
    assert outline(
        "Your task is to turn on the red light bulb. First, focus on the red light bulb.",
        *("go to workshop", "look around", "focus on red light bulb", "connect battery anode to black wire terminal 1"),
        *("connect orange wire terminal 2 to anode in red light bulb", "wait1", "wait1", "0", "use thermometer in inventory on ice"),
    ) == [
        "Go to the workshop and focus on the red light bulb",
        "Connect the battery anode to a black wire terminal",
        "Connect an orange wire terminal to the anode in the red light bulb",
        "Wait",
        "Use the thermometer on the ice",
        "Done when the goal holds: turn on the red light bulb",
    ]


def test_a_cycle_is_told_once():
    cycle = ("activate sink", "move jug to sink", "pour jug into flower pot 3", "deactivate sink", "wait1", "wait1")
    assert outline("grow a plant", *(cycle * 40)) == outline("grow a plant", *cycle)


def test_a_shop_is_told_without_words_and_labels():
    assert outline(
        "i need a red shirt",
        *("search[red shirt size 4]", "click[next >]", "click[b09abcdefg]", "click[description]", "click[< prev]", "click[back to search]"),
        *("search[shirt]", "click[xp1hbqeosd]", "click[red]", "click[size 4]", "click[Buy Now]"),
    ) == [
        "Search for the item as described",
        "Open a matching product",
        "Choose the options asked for",
        "Buy it",
        "Done when what is bought has all that was asked for",
    ]


@pytest.mark.parametrize("max_steps", [3, 5, 8])
@pytest.mark.parametrize("count", [1, 2, 7, 8, 14, 15, 300])
def test_never_more_lines_than_asked_for_and_the_first_and_last_step_stay(count, max_steps):
    lines = outline("g", *(f"use tool{number} on wall" for number in map(chr, range(0x4E00, 0x4E00 + count))), max_steps=max_steps)
    assert min(count + 1, 2) <= len(lines) <= max_steps
    assert lines[0].startswith("Use the tool一")
    assert f"tool{chr(0x4E00 + count - 1)}" in lines[-2]
    assert ("carry on" in " ".join(lines).lower()) == (count > 2 * (max_steps - 1))


def test_who_only_looked_around_is_told_so():
    assert outline("see", "look", "look") == ["Look", "Done when the goal holds: see"]


def test_other_actions_stand_as_they_are():
    said = "Because the first of the two is larger than the other one, whatever one may think of it, I answer so: it is B"
    assert outline("choose", '{"answer": 42}', said)[:-1] == ['{"answer": 42}', said]


def test_goals_without_an_end_and_no_goals_give_a_condition_all_the_same():
    assert outline("x" * 500, "wait")[-1] == f"Done when the goal holds: {'x' * 119}…"
    assert outline("", "wait")[-1] == "Done when the last step has had its effect"


def test_directions_and_determiners_bear_no_article():
    assert outline("g", "go north", "take the lamp", "focus on tree in the adult stage")[:-1] == [
        "Go north and take the lamp",
        "Focus on the tree in the adult stage",
    ]
