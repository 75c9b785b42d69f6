"""Generated houses: solvable, varied, the same again, and in splits that share nothing they should not share."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import asdict

import pytest
from xplearn_alfworld.engine import Engine
from xplearn_alfworld.houses import LAYOUTS, TYPES, asked, brief, generate, kind
from xplearn_alfworld.oracle import plan
from xplearn_alfworld.rooms import FURNITURE, OPENABLE, SPLITS, belongs, identifier, layout
from xplearn_alfworld.tables import BY_NAME, IN_ROOM, KINDS, ROOMS

from xplearn import ConfigError, DataError

MOST_STEPS = 15
APPLIANCES = {
    "pick_clean_then_place_in_recep": ("SinkBasin", "cleanable"),
    "pick_heat_then_place_in_recep": ("Microwave", "heatable"),
    "pick_cool_then_place_in_recep": ("Fridge", "coolable"),
}


@pytest.fixture(scope="module")
def games():
    """1,000 games: 400 of ``train``, 300 of either other split."""
    numbers = {"train": 400, "valid_seen": 300, "valid_unseen": 300}
    return [(split, index, *generate(0, split, index)) for split, number in numbers.items() for index in range(number)]


def standing(problem):
    return tuple((one.id, one.location) for one in problem.receptacles)


def combination(problem):
    return problem.goal.type, problem.goal.thing, problem.goal.target


def test_same_arguments_give_the_same_game_and_others_another():
    assert generate(3, "train", 8) == generate(3, "train", 8)
    first = generate(3, "train", 8)[0]
    for other in ((4, "train", 8), (3, "valid_seen", 8), (3, "train", 9)):
        assert generate(*other)[0].things != first.things


def test_a_game_does_not_depend_on_what_was_generated_before():
    layout.cache_clear()
    alone = generate(1, "valid_unseen", 17)
    layout.cache_clear()
    for index in range(17):
        generate(1, "valid_unseen", index)
    assert generate(1, "valid_unseen", 17) == alone


def test_any_six_in_a_row_are_of_all_six_types(games):
    assert all({kind(index) for index in range(start, start + 6)} == set(TYPES) for start in range(20))
    assert all(problem.goal.type == kind(index) for _, index, problem, _ in games)


def test_a_brief_tells_goal_and_layout_of_the_game(games):
    for split, index, problem, sentence in games[::25]:
        about = brief(0, split, index)
        assert (about.goal, about.sentence) == (problem.goal, sentence)
        assert (about.layout.start, [one.id for one in about.layout.receptacles]) == (
            problem.start,
            [one.id for one in problem.receptacles],
        )


def test_names_are_unique_and_references_lead_somewhere(games):
    assert len({problem.name for _, _, problem, _ in games}) == len(games)
    for _, _, problem, _ in games:
        ids = [one.id.lower() for one in (*problem.receptacles, *problem.things)]
        assert len(set(ids)) == len(ids)
        locations = {one.id: one.location for one in problem.receptacles}
        assert problem.start not in locations.values()
        for thing in problem.things:
            assert thing.location == locations[thing.receptacle]


def test_names_show_the_kind(games):
    for _, _, problem, _ in games[::10]:
        for one in (*problem.receptacles, *problem.things):
            shown, _, rest = one.id.partition("_bar_")
            assert one.kind == (shown + "Basin" if rest.endswith("Basin") else shown)


def test_a_name_that_is_taken_is_not_given_again():
    taken = {identifier("Mug", random.Random(5), ())}
    assert identifier("Mug", random.Random(5), taken) not in taken


def test_games_can_be_won_and_are_not_won_at_the_start(games):
    for _, _, problem, _ in games:
        goal, kinds = problem.goal, {one.id: one.kind for one in problem.receptacles}
        wanted = [thing for thing in problem.things if thing.kind == goal.thing]
        appliance, ability = APPLIANCES.get(goal.type, (None, "pickupable"))
        assert len(wanted) >= (2 if goal.type == "pick_two_obj_and_place" else 1)
        assert all(thing.pickupable and getattr(thing, ability) for thing in wanted)
        assert all(kinds[thing.receptacle] not in (goal.target, appliance) for thing in wanted)
        assert appliance is None or appliance in kinds.values()
        if goal.type == "look_at_obj_in_light":
            assert any(thing.kind == goal.target and thing.toggleable for thing in problem.things)
        else:
            assert goal.target in kinds.values()
            assert (goal.target, goal.thing) in problem.fits


def test_the_oracle_wins_every_game_within_fifteen_steps(games):
    steps = []
    for _, _, problem, sentence in games:
        engine = Engine(problem, sentence)
        assert not engine.won
        commands = plan(engine)
        assert all(engine.act(command) for command in commands)
        assert engine.won
        steps.append(len(commands))
    assert max(steps) <= MOST_STEPS


def test_things_lie_where_such_things_may_lie(games):
    for _, _, problem, _ in games[::5]:
        kinds = {one.id: one.kind for one in problem.receptacles}
        assert all((kinds[thing.receptacle], thing.kind) in problem.fits for thing in problem.things)
        assert all(thing.cool == (thing.coolable and kinds[thing.receptacle] == "Fridge") for thing in problem.things)


def test_only_what_can_be_opened_stands_open(games):
    opened = Counter()
    for _, _, problem, _ in games:
        assert all(one.openable == (one.kind in OPENABLE) for one in problem.receptacles)
        opened.update(one.opened for one in problem.receptacles if one.openable)
        assert not any(one.opened for one in problem.receptacles if not one.openable)
    assert 0.05 < opened[True] / opened.total() < 0.15


def test_some_receptacles_share_a_location(games):
    spots = [len({one.location for one in problem.receptacles}) / len(problem.receptacles) for _, _, problem, _ in games]
    assert 0.8 < sum(spots) / len(spots) < 0.95


def test_no_layout_is_in_two_splits(games):
    layouts = {split: {standing(problem) for name, _, problem, _ in games if name == split} for split in SPLITS}
    assert all(len(layouts[split]) > 30 for split in SPLITS)
    assert all(layouts[one].isdisjoint(layouts[other]) for one in SPLITS for other in SPLITS if one != other)


def test_the_split_of_a_layout_follows_from_itself_whatever_the_seed():
    for split in SPLITS:
        assert {belongs(layout(seed, split, room, number)) for seed in range(5) for room in ROOMS for number in range(3)} == {split}


def test_several_games_are_played_in_one_layout(games):
    played = Counter(standing(problem) for split, _, problem, _ in games if split == "train")
    assert len(played) <= 4 * LAYOUTS["train"]
    assert max(played.values()) > 3


def test_seen_asks_what_train_asks_and_unseen_asks_what_it_never_does(games):
    for type in TYPES:
        rooms = [room for room in ROOMS if asked(type, room, "train")]
        assert rooms
        for room in rooms:
            assert asked(type, room, "valid_seen") == asked(type, room, "train")
            assert asked(type, room, "valid_unseen")
        known = {pair for room in ROOMS for pair in asked(type, room, "train")}
        assert known.isdisjoint(pair for room in ROOMS for pair in asked(type, room, "valid_unseen"))
    unseen = {combination(problem) for split, _, problem, _ in games if split == "valid_unseen"}
    assert unseen.isdisjoint(combination(problem) for split, _, problem, _ in games if split != "valid_unseen")


def test_goals_are_sentences_without_a_full_stop(games):
    sentences = Counter(sentence for _, _, _, sentence in games)
    assert not any(sentence.endswith(".") or sentence != sentence.lower() for sentence in sentences)
    assert len(sentences) > 300
    for _, _, problem, sentence in games:
        assert problem.goal.thing.lower() in sentence
        assert problem.goal.target.lower() in sentence


def test_games_are_json(games):
    for _, _, problem, _ in games[::50]:
        row = asdict(problem) | {"fits": sorted(problem.fits)}
        assert json.loads(json.dumps(row))["name"] == problem.name


def test_every_kind_has_a_place_in_every_layout_of_its_rooms():
    for room in ROOMS:
        always = {name for name, (least, _) in FURNITURE[room].items() if least}
        assert all(always.intersection(thing.places) for thing in IN_ROOM[room])


def test_tables_name_each_kind_once_and_only_furniture_that_exists():
    furniture = {name for room in ROOMS for name in FURNITURE[room]}
    assert len(BY_NAME) == len(KINDS)
    assert {place for thing in KINDS for place in thing.places} <= furniture
    assert all(thing.most for thing in KINDS)


def test_wrong_splits_and_numbers_are_named():
    with pytest.raises(ConfigError, match="'test' is not one of train, valid_seen, valid_unseen"):
        generate(0, "test", 0)
    with pytest.raises(DataError, match="train/-1"):
        generate(0, "train", -1)
