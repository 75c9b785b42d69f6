from __future__ import annotations

import dataclasses
import json

import pytest
from xplearn_webshop import html
from xplearn_webshop.environment import WebShop
from xplearn_webshop.goals import _official_range

from xplearn import ConfigError, ContractError, DataError


@pytest.fixture(scope="module")
def env():
    part = WebShop(goals="synthetic")
    yield part
    part.close()


@pytest.fixture(scope="module")
def task(env):
    return env.tasks("train")[0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"observation": "txt"}, "observation: is 'txt', want one of text, text_rich, html"),
        ({"goals": "all"}, "goals: is 'all', want one of human, synthetic"),
        ({"reward": "exact"}, "reward: is 'exact', want one of original, strict"),
        ({"max_steps": 0}, "max_steps: is 0, want at least 1"),
        ({"prices": "p.json", "price_seed": 1}, "price_seed: draws nothing where 'prices' names a file; leave one of the two out"),
    ],
)
def test_wrong_fields_are_named_with_the_way_out(fields, message):
    with pytest.raises(ConfigError) as caught:
        WebShop(**fields)
    assert str(caught.value) == message


@pytest.mark.parametrize("goals", ["human", "synthetic"])
def test_every_goal_is_a_task_of_one_split_in_the_canonical_order(goals):
    env = WebShop(goals=goals)
    everything = env.tasks("all")
    assert env.splits()[0] == "train"
    assert [task.meta["goal_index"] for task in everything] == sorted(task.meta["goal_index"] for task in everything)
    for split in env.splits():
        assert [task for task in everything if task.split == split] == env.tasks(split)
    assert sum(len(env.tasks(split)) for split in env.splits()) == len(everything)
    assert all(task.id == f"{goals}/{task.meta['goal_index']}" and task.kind for task in everything)


def test_very_many_tasks_are_made_when_they_are_looked_at(monkeypatch):
    env = WebShop()
    everything = env.tasks("all")
    monkeypatch.setattr("xplearn_webshop.environment.MANY", 100)
    lazy = env.tasks("all")
    assert not isinstance(lazy, list)
    assert (len(lazy), lazy[-1], list(lazy[3:7])) == (len(everything), everything[-1], everything[3:7])
    assert list(lazy) == everything


def test_the_official_splits_are_ranges_of_indices():
    found = {split: _official_range(split, 12_087) for split in ("train", "dev", "test", "all?")}
    assert found == {"test": range(500), "dev": range(500, 1500), "train": range(1500, 12_087), "all?": range(0)}
    assert [len(_official_range(split, 700)) for split in ("train", "dev", "test")] == [0, 200, 500]


@pytest.mark.parametrize("split", ["valid", "", "dev "])
def test_splits_without_goals_are_named_beside_those_with_their_counts(env, split):
    with pytest.raises(ConfigError) as caught:
        env.tasks(split)
    assert str(caught.value).startswith(f"split: '{split}' has no synthetic goals; there are train ({len(env.tasks('train'))}), ")
    assert str(caught.value).endswith(f"all ({len(env.tasks('all'))})")


STRANGE = ("synthetic/-1", "synthetic/01", "synthetic/٣", "synthetic/", "synthetic", "human/0", f"synthetic/{'9' * 5000}")


@pytest.mark.parametrize("id", STRANGE)
def test_tasks_of_another_form_are_refused(env, task, id):
    with pytest.raises(DataError, match=r"ids look like synthetic/0|with indices from 0 to"):
        env.reset(dataclasses.replace(task, id=id), seed=0)


def test_a_goal_out_of_range_is_told_the_range(env, task):
    last = env.tasks("all")[-1].meta["goal_index"]
    with pytest.raises(DataError, match=rf"there are \d+ synthetic goals, with indices from 0 to {last}"):
        env.reset(dataclasses.replace(task, id=f"synthetic/{last + 1}"), seed=0)


def test_the_first_page_says_the_goal_and_the_opening_says_it_once(env, task):
    observation = env.reset(task, seed=0)
    assert observation.text == f"WebShop [SEP] Instruction: [SEP] {task.goal} [SEP] Search"
    said = "\n".join(message["content"] for message in env.opening(task, observation))
    assert said.count(task.goal) == 1
    assert env.url.endswith(f":3000/{task.meta['goal_index']}")
    assert env.available == {"has_search_bar": True, "clickables": ["search"]}


def test_searches_for_what_the_instruction_says_are_offered_without_its_price(env, task):
    offered = env.reset(task, seed=0).actions
    assert offered
    assert all(action.startswith("search[") and "price lower" not in action for action in offered)
    assert task.goal.startswith(offered[0].removeprefix("search[").removesuffix("]"))


def test_every_label_of_a_page_is_offered_as_a_click(env, task):
    offered = env.step(env.reset(task, seed=0).actions[0]).observation.actions
    assert list(offered) == [f"click[{label}]" for label in env.available["clickables"]]
    assert offered[:2] == ("click[back to search]", "click[next >]")


def test_an_action_that_does_nothing_says_what_is_possible_in_info_only(env, task):
    env.reset(task, seed=0)
    before = env.step("search[shirt]")
    after = env.step("click[Add to Cart]")
    assert after.observation == before.observation
    assert (after.info["valid"], after.reward, after.terminated) == (False, 0.0, False)
    assert after.info["reason"].startswith("nothing here is called 'add to cart'; search[words] is possible everywhere, click on: back to")
    assert after.info["reason"].endswith(" and 4 more")
    assert env.step("I think").info["reason"].startswith("an action is search[words] or click[label]; labels here: back to search, next >")
    assert "reason" not in before.info


def test_buying_ends_the_episode_with_the_score_its_parts_and_the_ceiling(env, task):
    shown = env.demonstrate(task, seed=0)
    env.reset(task, seed=0)
    outcomes = [env.step(step.action) for step in shown.steps]
    assert [outcome.reward for outcome in outcomes[:-1]] == [0.0] * (len(outcomes) - 1)
    last = outcomes[-1]
    assert (last.reward, last.terminated, last.truncated, last.observation.actions) == (1.0, True, False, None)
    assert (last.info["score"], last.info["success"], last.info["ceiling"]) == (1.0, True, 1.0)
    assert last.info["reward_info"]["r_type"] == 1.0
    assert not any("reward_info" in outcome.info for outcome in outcomes[:-1])
    json.dumps(dict(last.info))
    with pytest.raises(ContractError, match="the episode is over"):
        env.step("click[back to search]")


def test_a_wrong_purchase_ends_the_episode_unsolved(env, task):
    env.reset(task, seed=0)
    other = env.demonstrate(env.tasks("train")[-1], seed=0)
    env.reset(task, seed=0)
    outcomes = [env.step(step.action) for step in other.steps]
    assert outcomes[-1].terminated
    assert outcomes[-1].info["score"] < 1.0
    assert outcomes[-1].info["success"] is False


def test_being_out_of_steps_is_truncation_and_demonstrations_ignore_the_limit(task):
    short = WebShop(goals="synthetic", max_steps=2)
    short.reset(task, seed=0)
    assert short.step("search[x]").truncated is False
    outcome = short.step("search[x]")
    assert (outcome.truncated, outcome.terminated, outcome.info["success"]) == (True, False, False)
    with pytest.raises(ContractError):
        short.admissible()
    shown = short.demonstrate(task, seed=0)
    assert shown.success
    assert len(shown.steps) > 2


def test_the_page_is_html_whatever_the_observation(env, task):
    env.reset(task, seed=0)
    assert env.page().startswith("<!doctype html>")
    assert env.demonstrate(task, seed=0).steps[-1].action == "click[buy now]"
    assert "Your score (min 0.0, max 1.0)</p><p>1.0</p>" in env.page()
    shown = WebShop(goals="synthetic", observation="html")
    assert shown.reset(task, seed=0).text == shown.page() == html.document(shown._session.page)


def test_pages_addresses_and_labels_need_an_episode():
    fresh = WebShop()
    for ask in (fresh.page, fresh.admissible, lambda: fresh.url, lambda: fresh.available):
        with pytest.raises(ContractError, match="call reset first"):
            ask()


def test_version_names_everything_that_changes_a_result():
    fields = ({}, {"goals": "synthetic"}, {"reward": "strict"}, {"observation": "text_rich"}, {"max_steps": 20}, {"price_seed": 1})
    versions = {WebShop(**given).version for given in fields}
    assert len(versions) == len(fields)
    assert all(version.startswith("webshop engine 1, grammar 1, data ") for version in versions)


def test_closing_lets_go_and_the_next_reset_opens_again(task):
    env = WebShop(goals="synthetic")
    env.reset(task, seed=0)
    env.close()
    env.close()
    with pytest.raises(ContractError):
        env.step("search[x]")
    assert env.reset(task, seed=0).text


def test_every_own_goal_is_reached_by_its_demonstration():
    for goals in ("human", "synthetic"):
        for reward in ("original", "strict"):
            env = WebShop(goals=goals, reward=reward)
            env.listing = False
            shown = {task.id: env.demonstrate(task, seed=0) for task in env.tasks("all")}
            assert [id for id, trajectory in shown.items() if trajectory.score != env.ceiling(trajectory.task)] == []
            assert [id for id, trajectory in shown.items() if not trajectory.success] == []
            assert max(len(trajectory.steps) for trajectory in shown.values()) <= env.max_steps


def test_demonstrations_take_actions_that_are_offered():
    for goals in ("human", "synthetic"):
        env = WebShop(goals=goals)
        for task in env.tasks("all"):
            assert all(step.action in step.query.candidates for step in env.demonstrate(task, seed=0).steps)


def test_prices_recorded_with_the_other_kind_of_goals_are_refused(data_folder):
    prices = data_folder / "oracle" / "human_goals_prices.json.gz"
    with pytest.raises(DataError, match="was recorded with human goals, not synthetic ones"):
        WebShop(data=str(data_folder), goals="synthetic", prices=str(prices)).tasks("all")


@pytest.mark.parametrize("task", [None, "human/0", 3])
def test_what_is_no_task_is_named(task):
    with pytest.raises(ContractError, match="reset takes a Task, not "):
        WebShop().reset(task, seed=0)
