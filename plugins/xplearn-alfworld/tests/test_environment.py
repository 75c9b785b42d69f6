"""The environment: fields, splits, outcomes, demonstrations, going back."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest
from xplearn_alfworld.environment import INSTRUCTIONS, AlfWorld

from xplearn import ConfigError, ContractError, DataError, make

SMALL = {"games": 12, "valid_games": 6}


@pytest.fixture
def env(packed):
    return AlfWorld(data=str(packed))


def start(env, kind="pick_and_place_simple", split="train"):
    """Reset to the task of a kind."""
    task = next(task for task in env.tasks(split) if task.kind == kind)
    return task, env.reset(task, seed=0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kinds": ["pick_and_place"]}, "kinds: no type of task is called 'pick_and_place'; did you mean 'pick_and_place_simple'? (known:"),
        ({"goals": "spoken"}, "goals: is 'spoken', want templated or human"),
        ({"goals": "human"}, "goals: generated houses have no sentences written by people"),
        ({"max_steps": 0}, "max_steps: is 0, want at least 1"),
        ({"games": 0}, "games: is 0, want at least 1"),
        ({"valid_games": -1}, "valid_games: is -1, want at least 0"),
        ({"seed": -1}, "seed: is -1, want at least 0"),
        ({"seed": 10**30}, f"seed: is {10**30}, want at least 0 and at most"),
        ({"games": 10**30}, f"games: is {10**30}, want at least 1 and at most"),
        ({"valid_games": 10**7}, "valid_games: is 10000000, want at least 0 and at most"),
    ],
)
def test_wrong_fields_are_named_with_the_way_out(fields, message):
    with pytest.raises(ConfigError) as caught:
        AlfWorld(**fields)
    assert str(caught.value).startswith(message)


def test_making_one_opens_nothing():
    assert make("environment", "alfworld.text", data="/nowhere/games.jsonl.xz").instructions == INSTRUCTIONS


def test_missing_data_is_an_error_at_first_use_with_the_way_to_get_it():
    env = AlfWorld(data="/nowhere/games.jsonl.xz")
    for use in (env.splits, lambda: env.version, lambda: env.tasks("train")):
        with pytest.raises(DataError, match=r"/nowhere/games\.jsonl\.xz: does not exist; .*alfworld-download"):
            use()


def test_a_packed_rows_id_is_its_tasks_id(env):
    task = env.tasks("train")[0]
    assert (task.id, task.kind, task.split) == ("train/pick_and_place_simple/trial_train", "pick_and_place_simple", "train")
    assert (task.goal, task.meta, task.env) == ("bring a mug to the shelf", {"scene": "LittleHouse"}, "alfworld.text")


def test_other_names_of_splits_are_understood_where_no_split_has_them(env):
    assert env.splits() == ("train", "valid_seen")
    assert env.tasks("seen") == env.tasks("dev") == env.tasks("valid_seen")
    for split in ("unseen", "test", "valid_unseen", "valid_train", "x", None, 3):
        with pytest.raises(ConfigError, match=f"split: no split is called '{split}'.*known: train, valid_seen"):
            env.tasks(split)


def test_a_split_keeps_its_own_name_before_any_other_meaning(tmp_path, rows, packing):
    env = AlfWorld(data=str(packing(tmp_path / "x.jsonl", [rows("test/a/1"), rows("valid_unseen/a/1")])))
    assert [task.id for task in env.tasks("test")] == ["test/a/1"]
    assert [task.id for task in env.tasks("unseen")] == ["valid_unseen/a/1"]


def test_kinds_narrow_the_tasks_down(packed):
    env = AlfWorld(data=str(packed), kinds=["look_at_obj_in_light", "pick_and_place_simple"])
    assert [task.kind for task in env.tasks("train")] == ["pick_and_place_simple", "look_at_obj_in_light"]


def test_kinds_that_no_game_has_are_an_error(tmp_path, rows, packing):
    env = AlfWorld(data=str(packing(tmp_path / "x.jsonl", [rows("train/a/1")])), kinds=["look_at_obj_in_light"])
    with pytest.raises(ConfigError, match="kinds: none of the games is of these types: look_at_obj_in_light"):
        env.splits()


def test_things_narrow_the_tasks_down_to_goals_that_name_them():
    env = AlfWorld(kinds=["look_at_obj_in_light"], things=["book", "laptop"], games=600)
    goals = {task.goal for task in env.tasks("train")}
    assert goals == {
        text.format(thing) for thing in ("book", "laptop") for text in ("look at {} under the desklamp", "examine the {} with the desklamp")
    }
    everything = AlfWorld(kinds=["look_at_obj_in_light"], games=600).tasks("train")
    assert [task.id for task in env.tasks("train")] == [task.id for task in everything if {"book", "laptop"} & set(task.goal.split())]


def test_things_that_no_goal_names_are_an_error():
    with pytest.raises(ConfigError, match="things: none of the games is of these types: any, about one of: unicorn"):
        AlfWorld(things=["unicorn"], games=12).splits()


def test_human_goals_are_the_first_sentence_of_the_row(packed):
    env = AlfWorld(data=str(packed), goals="human", faithful=True)
    task, observation = start(env)
    assert task.goal == "Please bring a mug to the shelf, dear."
    assert observation.text.endswith("\n\nYour task is to: Please bring a mug to the shelf, dear..")


def test_a_game_without_human_sentences_is_named(tmp_path, rows, packing):
    env = AlfWorld(data=str(packing(tmp_path / "x.jsonl", [rows("train/a/1", human=[])])), goals="human")
    with pytest.raises(DataError, match="train/a/1: has no sentence written by people; set goals to templated"):
        env.tasks("train")


def test_the_opening_states_the_goal_once(env):
    task, observation = start(env)
    system, user = env.opening(task, observation)
    assert system == {"role": "system", "content": INSTRUCTIONS}
    assert user == {"role": "user", "content": observation.text}
    assert user["content"].count(task.goal) == 1


def test_winning_terminates_and_pays_once(env):
    start(env)
    outcomes = [env.step(action) for action in env.plan()]
    assert [outcome.reward for outcome in outcomes] == [0.0, 0.0, 0.0, 1.0]
    assert [outcome.terminated for outcome in outcomes] == [False, False, False, True]
    assert outcomes[-1].info == {"valid": True, "score": 1.0, "success": True, "won": True, "reason": ""}
    assert outcomes[-1].observation.actions == env.admissible()
    with pytest.raises(ContractError, match="the episode is over; call reset"):
        env.step("look")


def test_winning_at_the_last_step_is_no_truncation_and_being_out_of_steps_no_success(packed):
    env = AlfWorld(data=str(packed), max_steps=4)
    start(env)
    outcome = [env.step(action) for action in env.plan()][-1]
    assert (outcome.terminated, outcome.truncated, outcome.info["success"]) == (True, False, True)
    start(env)
    outcomes = [env.step("look") for _ in range(4)]
    assert [outcome.truncated for outcome in outcomes] == [False, False, False, True]
    assert (outcomes[-1].terminated, outcomes[-1].info["success"], outcomes[-1].info["score"]) == (False, False, 0.0)


def test_demonstrations_ignore_the_step_limit_and_leave_it_in_force(packed):
    env = AlfWorld(data=str(packed), max_steps=2)
    for task in env.tasks("train"):
        shown = env.demonstrate(task, seed=0)
        assert (shown.success, shown.source) == (True, "demonstration")
        assert len(shown.steps) > 2
        assert all(step.action in step.query.candidates for step in shown.steps)
    start(env)
    env.step("look")
    assert env.step("look").truncated


def test_the_plan_holds_from_wherever_one_is(env):
    start(env, "pick_heat_then_place_in_recep")
    for action in ("go to countertop 1", "take spoon 1 from countertop 1", "go to fridge 1"):
        env.step(action)
    outcomes = [env.step(action) for action in env.plan()]
    assert all(outcome.info["valid"] for outcome in outcomes)
    assert outcomes[-1].info["success"]


def test_snapshots_take_an_episode_back_even_from_its_end(env):
    start(env)
    env.step("go to countertop 1")
    before, actions = env.snapshot(), env.admissible()
    plan = env.plan()
    for _ in range(2):
        outcomes = [env.step(action) for action in plan]
        assert outcomes[-1].terminated
        env.restore(before)
        assert env.admissible() == actions
    for _ in range(env.max_steps - 2):
        assert not env.step("look").truncated
    assert env.step("look").truncated


def test_keys_of_snapshots_are_equal_where_the_state_is(env):
    start(env)
    seen = [env.snapshot().key]
    for action in ("look", "go to countertop 1", "take mug 1 from countertop 1", "look"):
        env.step(action)
        seen.append(env.snapshot().key)
    assert (seen[1], seen[4], len(set(seen))) == (seen[0], seen[3], 3)
    start(env, "look_at_obj_in_light")
    assert env.snapshot().key not in seen


def test_a_snapshot_belongs_to_its_task(env):
    with pytest.raises(ContractError, match="no episode is in progress"):
        env.snapshot()
    start(env)
    snapshot = env.snapshot()
    start(env, "look_at_obj_in_light")
    with pytest.raises(ContractError, match=r"the snapshot is of train/pick_and_place_simple.*reset to that task first"):
        env.restore(snapshot)


def test_a_game_that_cannot_be_won_is_refused_at_reset(tmp_path, rows, packing, little):
    problem = little().replace("(canContain ShelfType MugType)", "")
    env = AlfWorld(data=str(packing(tmp_path / "x.jsonl", [rows("train/a/1", problem=problem)])))
    with pytest.raises(DataError, match=r"cannot be solved from here .*it needs 1 Mug that can be taken and put into a Shelf"):
        env.reset(env.tasks("train")[0], seed=0)
    with pytest.raises(ContractError, match="call reset first"):
        env.step("look")


def test_a_problem_of_another_type_than_its_row_says_is_refused(tmp_path, rows, packing, little):
    row = rows("train/a/1", problem=little("look_at_obj_in_light"))
    env = AlfWorld(data=str(packing(tmp_path / "x.jsonl", [row])))
    with pytest.raises(DataError, match=r"train/a/1: is listed as pick_and_place_simple, but its problem is look_at_obj_in_light"):
        env.reset(env.tasks("train")[0], seed=0)


@pytest.mark.parametrize("id", ["train/nope/1", "", "train/house/0-99", "\ud800"])
def test_tasks_that_do_not_exist_are_refused(env, id):
    for part in (env, AlfWorld(**SMALL)):
        task = dataclasses.replace(part.tasks("train")[0], id=id)
        with pytest.raises(DataError, match=r"is no task of alfworld\.text with"):
            part.reset(task, seed=0)
    with pytest.raises(DataError):
        env.reset(dataclasses.replace(env.tasks("train")[0], env="webshop.text"), seed=0)


def test_version_names_everything_that_changes_a_result(tmp_path, packed, rows, packing):
    other = str(packing(tmp_path / "other.jsonl", [rows("train/a/1")]))
    environments = [
        AlfWorld(),
        AlfWorld(seed=1),
        AlfWorld(data=other),
        *(AlfWorld(data=str(packed), **fields) for fields in ({}, {"faithful": True}, {"max_steps": 30}, {"goals": "human"})),
    ]
    versions = [env.version for env in environments]
    assert len(set(versions)) == len(versions)
    assert all(version.startswith("alfworld 0.4.2 rules, ") for version in versions)
    copy = tmp_path / "copy.jsonl.xz"
    copy.write_bytes(packed.read_bytes())
    assert AlfWorld(data=str(copy)).version == AlfWorld(data=str(packed)).version


def test_generated_houses_are_the_default_and_solved_by_the_expert():
    env = AlfWorld(**SMALL)
    assert env.splits() == ("train", "valid_seen", "valid_unseen")
    for split in env.splits():
        assert len({task.kind for task in env.tasks(split)}) == 6
        assert all(env.demonstrate(task, seed=0).success for task in env.tasks(split))
    assert AlfWorld(games=1, valid_games=0).splits() == ("train",)


def test_an_episode_can_be_started_in_another_process_from_its_task_alone(packed):
    for fields in ({"data": str(packed)}, SMALL):
        task = AlfWorld(**fields).tasks("valid_seen")[-1]
        script = (
            "import json, sys; from xplearn import Task, make\n"
            "fields, task = json.loads(sys.argv[1])\n"
            "print(json.dumps(make('environment', 'alfworld.text', **fields).reset(Task(**task), seed=0).text))"
        )
        given = json.dumps([fields, dataclasses.asdict(task)])
        done = subprocess.run([sys.executable, "-c", script, given], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == AlfWorld(**fields).reset(task, seed=0).text


def test_what_was_left_out_can_be_seen(tmp_path, rows, packing):
    packing(tmp_path / "games.jsonl", [rows("train/a/1")])
    packing(tmp_path / "notes.jsonl", [{"note": "?"}])
    env = AlfWorld(data=str(tmp_path))
    assert env.splits() == ("train",)
    assert env.skipped == {"files of something else": 1}


@pytest.mark.parametrize("wrong", [None, "train/house/0-0", 3])
def test_what_is_no_task_or_snapshot_is_named(wrong):
    env = AlfWorld()
    with pytest.raises(ContractError, match="reset takes a Task, not "):
        env.reset(wrong, seed=0)
    env.reset(env.tasks("train")[0], seed=0)
    with pytest.raises(ContractError, match="restore takes what snapshot"):
        env.restore(wrong)
