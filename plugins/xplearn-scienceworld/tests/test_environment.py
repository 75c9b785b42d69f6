from __future__ import annotations

import dataclasses

import pytest
from xplearn_scienceworld.environment import CLOSED, ScienceWorld

from xplearn import ConfigError, DataError


@pytest.fixture(scope="module")
def env():
    part = ScienceWorld()
    part.listing = False
    yield part
    part.close()


@pytest.fixture(scope="module")
def by_id(env):
    return {task.id: task for split in env.splits() for task in env.tasks(split)}


def test_all_variations_are_tasks_without_java(by_id):
    assert len(by_id) == 7207
    assert by_id["boil/12"].meta == {
        "task": "boil",
        "variation": 12,
        "simplifications": ["teleportAction", "openDoors", "selfWateringFlowerPots", "noElectricalAction"],
    }


def test_kinds_narrow_the_tasks_down_in_the_official_order():
    tasks = ScienceWorld(kinds=["melt", "boil"]).tasks("dev")
    assert [task.id for task in tasks] == [f"{kind}/{number}" for kind in ("boil", "melt") for number in range(14, 21)]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kinds": ["boyl"]}, "kinds: no task is called 'boyl'; did you mean 'boil'?"),
        ({"simplifications": "easi"}, "simplifications: no simplification is called 'easi'; did you mean 'easy'?"),
        ({"simplifications": "noElectricalAction"}, "simplifications: noElectricalAction makes power-component unsolvable"),
        ({"max_steps": 0}, "max_steps: is 0, want at least 1"),
        ({"heap_mb": 1}, "heap_mb: is 1, want at least 128"),
        ({"step_seconds": 0.0}, "step_seconds: is 0.0, want at least 0.001"),
        ({"step_seconds": float("nan")}, "step_seconds: is nan, want at least 0.001 and at most 1e+06"),
        ({"step_seconds": float("inf")}, "step_seconds: is inf, want at least 0.001 and at most 1e+06"),
    ],
)
def test_wrong_fields_are_named_with_the_way_out(fields, message):
    with pytest.raises(ConfigError) as caught:
        ScienceWorld(**fields)
    assert str(caught.value).startswith(message)


def test_electricity_may_be_off_where_nothing_needs_it():
    assert ScienceWorld(kinds=["boil"], simplifications="noElectricalAction").effective("boil") == ("noElectricalAction",)


@pytest.mark.parametrize("id", ["boil/30", "boil/-1", "boil/٣", "boil/012", "boyl/1", "boil", "/1"])
def test_tasks_that_do_not_exist_never_reach_the_simulator(id, by_id):
    untouched = ScienceWorld()
    with pytest.raises(DataError):
        untouched.reset(dataclasses.replace(by_id["boil/0"], id=id), seed=0)
    assert untouched._session.pid is None


def test_version_names_everything_that_changes_a_result():
    versions = {
        env.version
        for env in (
            ScienceWorld(),
            ScienceWorld(simplifications=""),
            ScienceWorld(max_steps=50),
            ScienceWorld(step_caps="papers"),
            ScienceWorld(deterministic=False),
        )
    }
    assert len(versions) == 5
    assert all(version.startswith("scienceworld 1.2.3 (jar f4e1fdce0cda), grammar 1") for version in versions)


def test_only_a_fixed_order_promises_replay():
    assert "env.replay" in ScienceWorld().provides
    assert "env.replay" not in ScienceWorld(deterministic=False).provides


def test_instructions_say_that_focus_is_scored_and_show_the_moves_there_are():
    assert "Focusing is scored" in ScienceWorld().instructions
    assert "teleport to kitchen" in ScienceWorld().instructions
    assert "teleport" not in ScienceWorld(simplifications="openDoors").instructions


def test_a_wrong_focus_ends_the_episode_as_failed_with_nothing(env, by_id):
    env.reset(by_id["boil/0"], seed=0)
    outcome = env.step("focus on orange")
    assert (outcome.terminated, outcome.truncated) == (True, False)
    assert (outcome.info["points"], outcome.info["score"], outcome.info["success"]) == (-100, 0.0, False)


def test_score_of_the_episode_before_is_not_taken_over(env, by_id):
    assert env.demonstrate(by_id["lifespan-longest-lived/0"], seed=0).score == 1.0
    env.reset(by_id["boil/0"], seed=0)
    outcome = env.step("look around")
    assert (outcome.info["score"], outcome.reward, outcome.terminated) == (0.0, 0.0, False)


def test_rewards_are_changes_of_the_score(env, by_id):
    shown = env.demonstrate(by_id["find-plant/0"], seed=0)
    env.reset(by_id["find-plant/0"], seed=0)
    start = env._episode.points / 100
    assert start + sum(step.reward for step in shown.steps) == pytest.approx(1.0)


@pytest.mark.parametrize("spelling", ["reset task", " Reset  THE task\n"])
def test_resetting_the_task_is_closed_and_not_listed(env, by_id, spelling):
    env.reset(by_id["boil/0"], seed=0)
    moves = env.step("inventory").info["moves"]
    outcome = env.step(spelling)
    assert (outcome.observation.text, outcome.info["valid"]) == (CLOSED, False)
    assert env.step("inventory").info["moves"] == moves
    assert not any("reset" in action for action in env.admissible())


def test_an_ambiguous_command_asks_and_offers_the_numbers(env, by_id):
    env.reset(by_id["boil/0"], seed=0)
    asked = env.step("open door")
    assert (asked.info["ambiguous"], asked.info["valid"]) == (True, True)
    assert env.admissible() == tuple("012345")
    assert env.step("2").observation.text == "The door is already open."


def test_an_action_after_a_question_is_never_swallowed(env, by_id):
    env.reset(by_id["boil/0"], seed=0)
    env.step("open door")
    assert env.step("inventory").observation.text.startswith("In your inventory")
    env.step("open door")
    assert env.step("open door between kitchen and hallway").observation.text == "The door is already open."
    env.step("open door")
    refused = env.step("9")
    assert refused.info["valid"] is False
    assert env.step("go to kitchen").observation.text == "You move to the kitchen."


def test_being_out_of_steps_is_truncation_not_success(by_id):
    short = ScienceWorld(max_steps=2)
    short.listing = False
    short.reset(by_id["boil/0"], seed=0)
    assert short.step("reset task").truncated is False
    outcome = short.step("look around")
    assert (outcome.truncated, outcome.terminated, outcome.info["success"]) == (True, False, False)
    short.close()


def test_the_papers_caps_hold_per_kind_and_never_for_demonstrations(by_id):
    capped = ScienceWorld(step_caps="papers", max_steps=3)
    capped.listing = False
    capped.reset(by_id["lifespan-longest-lived/0"], seed=0)
    outcomes = [capped.step("look around") for _ in range(12)]
    assert [outcome.truncated for outcome in outcomes] == [False] * 11 + [True]
    shown = capped.demonstrate(by_id["inclined-plane-determine-angle/0"], seed=0)
    assert shown.success
    assert len(shown.steps) > 3
    capped.close()


def test_wording_of_demonstrations_is_a_choice(env, by_id):
    task = by_id["find-living-thing/0"]
    actions = {}
    for wording in ("gold", "trimmed", "admissible"):
        env.demonstrations = wording
        actions[wording] = [step.action for step in env.demonstrate(task, seed=0).steps]
    env.demonstrations = "trimmed"
    assert actions["trimmed"] == [action for action in actions["gold"] if not action.startswith("open door")] != actions["gold"]
    assert actions["admissible"][-1] == "move blue jay to red box"
    assert actions["trimmed"][-1] == "move egg blue jay egg in inventory to red box"


def test_a_path_that_needs_its_doors_falls_back_to_the_simulators_own_words(env, by_id):
    shown = env.demonstrate(by_id["identify-life-stages-1/0"], seed=0)
    assert shown.success
    assert any(step.action.startswith("open door") for step in shown.steps)


def test_a_path_that_fails_is_an_error_of_the_trajectory(env, by_id, monkeypatch):
    task = by_id["boil/0"]
    monkeypatch.setitem(env._gold, task.id, ("look around", "inventory"))
    shown = env.demonstrate(task, seed=0)
    assert shown.error == "the simulator's own solution ends at 0.00 of 1.0"
    assert not shown.success


def test_containers_stand_open_when_asked_to(by_id):
    opened = ScienceWorld(simplifications="openContainers,openDoors,teleportAction")
    opened.listing = False
    opened.reset(by_id["boil/0"], seed=0)
    opened.step("teleport to kitchen")
    assert opened.step("look in cupboard").observation.text.startswith("Inside the cupboard is: ")
    assert opened._session.settings() == "openContainers, openDoors, teleportAction"
    opened.close()
