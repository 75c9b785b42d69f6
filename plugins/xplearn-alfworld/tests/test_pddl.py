"""Problems as text: what is read, and what is refused with what reason."""

from __future__ import annotations

import json
import lzma

import pytest
from xplearn_alfworld.pddl import parse
from xplearn_alfworld.problem import Goal

from xplearn import DataError

TYPES = {
    "pick_and_place_simple": ("Mug", "Shelf"),
    "pick_clean_then_place_in_recep": ("Mug", "Shelf"),
    "pick_heat_then_place_in_recep": ("Apple", "CounterTop"),
    "pick_cool_then_place_in_recep": ("Mug", "Drawer"),
    "pick_two_obj_and_place": ("Mug", "Shelf"),
    "look_at_obj_in_light": ("Mug", "DeskLamp"),
}


@pytest.mark.parametrize("type", TYPES)
def test_each_of_the_six_goals_is_read_from_its_formula(little, type):
    thing, target = TYPES[type]
    assert parse(little(type)).goal == Goal(type=type, thing=thing, target=target)


def test_everything_at_the_start_is_read(little):
    problem = parse(little())
    places = {place.id: place for place in problem.receptacles}
    things = {thing.id: thing for thing in problem.things}
    assert (problem.name, problem.start) == ("little_pick_and_place_simple", "loc_start")
    assert (len(places), len(things)) == (10, 10)
    sink = places["Sink_bar_1_bar_SinkBasin"]
    assert (sink.kind, sink.location, sink.openable, sink.opened) == ("SinkBasin", "loc_sink", False, False)
    apple = things["Apple_bar_1"]
    assert (apple.kind, apple.receptacle, apple.location, apple.sliceable, apple.cool) == (
        "Apple",
        "Fridge_bar_1",
        "loc_fridge",
        True,
        True,
    )
    pot = things["Pot_bar_1"]
    assert (pot.receptacle, pot.also_in, pot.container) == ("StoveBurner_bar_1", ("StoveBurner_bar_2",), True)
    assert things["Spoon_bar_1"].inside == ("Mug_bar_2",)
    assert things["Window_bar_1"].receptacle is None
    assert ("Shelf", "Mug") in problem.fits
    assert ("Shelf", "TeddyBear") not in problem.fits


def test_case_and_comments_do_not_matter_and_open_receptacles_are_open(little):
    text = little().replace("(openable Fridge_bar_1)", "(OPENABLE fridge_bar_1) ; (cold ) inside\n(opened Fridge_bar_1)")
    assert {place.id for place in parse(text).receptacles if place.opened} == {"Fridge_bar_1"}


def test_order_and_names_in_a_formula_do_not_matter(little):
    atoms = "(inReceptacle ?x ?y) (receptacleType ?y ShelfType) (isHot ?x) (heatable ?x) (objectType ?x MugType)"
    goal = f"(exists (?x - object ?y - receptacle) (and {atoms}))"
    assert parse(little(goal=goal)).goal == Goal(type="pick_heat_then_place_in_recep", thing="Mug", target="Shelf")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(:goal", "(:gaol", "it has no :goal"),
        ("(define", "(defend", "is not a PDDL problem: it has no define"),
        ("(:domain alfred)", "(:domain logistics)", "is of the domain 'logistics', want 'alfred'"),
        ("(:domain alfred)", "(:domain alfred) oops", "has 'oops' where a section is expected"),
        (
            "Shelf_bar_1 - receptacle",
            "Shelf_bar_1 - furniture",
            "declares Shelf_bar_1 as 'furniture', which is no type (known: agent, location,",
        ),
        ("Window_bar_1 - object\n", "Window_bar_1\n", "declares Window_bar_1 without a type"),
        ("(openable Fridge_bar_1)", "(openable Fridge_bar_9)", "(openable Fridge_bar_9) should name one declared receptacle"),
        ("(openable Fridge_bar_1)", "(openable Apple_bar_1)", "(openable Apple_bar_1) should name one declared receptacle"),
        ("(openable Fridge_bar_1)", "(openable Fridge_bar_1 Fridge_bar_1)", "should name one declared receptacle"),
        ("(openable Fridge_bar_1)", "(haunted Fridge_bar_1)", "(haunted Fridge_bar_1) is not of ALFWorld's domain"),
        ("(openable Fridge_bar_1)", "(isHot Apple_bar_1)", "(isHot Apple_bar_1) only comes about by acting"),
        ("(openable Fridge_bar_1)", "openable", "openable is not of ALFWorld's domain"),
        ("(openable Fridge_bar_1)", "()", "() is not of ALFWorld's domain"),
        ("(openable Fridge_bar_1)", "((openable) Fridge_bar_1)", "is not of ALFWorld's domain"),
        ("(atLocation agent1 loc_start)", "", "has no (atlocation agent1 …)"),
        (
            "(atLocation agent1 loc_start)",
            "(atLocation agent1 loc_start) (atLocation agent1 loc_sink)",
            "for loc_start and loc_sink, want one",
        ),
        ("agent1 - agent", "agent1 - agent agent2 - agent", "declares 2 agents, want 1"),
        ("(receptacleType Shelf_bar_1 ShelfType)", "", "has no (receptacletype Shelf_bar_1 …)"),
        ("(objectType ?o MugType)", "", "its goal is none of the six of ALFWorld"),
        ("(objectType ?o MugType)", "(objectType ?o MugType) (isSliced ?o)", "its goal is none of the six of ALFWorld"),
        ("(inReceptacle ?o ?r)", "(not (inReceptacle ?o ?r))", "its goal is none of the six of ALFWorld"),
        ("(inReceptacle ?o ?r)", "(or (inReceptacle ?o ?r))", "its goal is none of the six of ALFWorld"),
        ("(define", "(define (define", "is not PDDL: it ends with 1 brackets open; is it cut off?"),
        ("(define", ") (define", "is not PDDL: it closes a bracket that was never opened"),
        ("(inReceptacle ?o ?r)", "(and " * 60 + ")" * 60, "its brackets are more than 50 deep"),
        ("(define", "() (define", "is not PDDL: it should be one form in brackets"),
    ],
)
def test_what_is_no_problem_is_refused_with_the_reason(little, old, new, message):
    text = little()
    assert old in text
    with pytest.raises(DataError) as caught:
        parse(text.replace(old, new, 1), source="here.pddl")
    assert str(caught.value).startswith("here.pddl: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "x", "()", "(define)", "(" * 100_000, ")" * 100_000, "(define (problem) (:domain alfred) (:objects) (:init) (:goal))"]
)
def test_anything_else_is_refused_too(text):
    with pytest.raises(DataError):
        parse(text)


def test_a_problem_cut_anywhere_is_refused(little):
    text = little().rstrip()
    for end in range(0, len(text), 97):
        with pytest.raises(DataError):
            parse(text[:end])


def test_released_goals_agree_with_the_type_and_parameters_of_their_rows(data_folder):
    with lzma.open(data_folder / "valid_seen.jsonl.xz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert len(rows) == 140
    for row in rows:
        goal, params = parse(row["problem"]).goal, row["params"]
        target = params["toggle_target"] or params["parent_target"]
        assert (goal.type, goal.thing, goal.target) == (row["type"], params["object_target"], target)
