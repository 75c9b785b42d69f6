"""Recorded episodes of the original, played again."""

from __future__ import annotations

import gzip
import json

import pytest
from xplearn_webshop.environment import WebShop

EPISODES = {"synthetic": 36, "human": 7}


def recorded(folder, goals):
    with gzip.open(folder / "oracle" / f"{goals}_traces.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("form", ["text", "text_rich"])
@pytest.mark.parametrize("goals", EPISODES)
def test_recorded_episodes_are_equal_in_everything(data_folder, goals, form):
    prices = str(data_folder / "oracle" / f"{goals}_goals_prices.json.gz")
    env = WebShop(data=str(data_folder), goals=goals, prices=prices, observation=form)
    tasks = {task.meta["goal_index"]: task for task in env.tasks("all")}
    episodes = recorded(data_folder, goals)
    for episode in episodes:
        assert played(env, tasks[episode["goal_index"]], episode["steps"], form) == [expected(step, form) for step in episode["steps"]]
    assert len(episodes) == EPISODES[goals]


def played(env, task, steps, form):
    start = env.reset(task, seed=0)
    seen = [{"text": start.text, "url": env.url, "available": env.available, "reward": 0.0, "done": False, "reward_info": None}]
    for step in steps[1:]:
        outcome = env.step(step["action"])
        seen.append(
            {
                "text": outcome.observation.text,
                "url": outcome.info["url"],
                "available": outcome.info["available"],
                "reward": outcome.reward,
                "done": outcome.terminated,
                "reward_info": outcome.info.get("reward_info"),
            }
        )
    return seen


def expected(step, form):
    return {"text": step[form], "reward_info": step.get("reward_info")} | {key: step[key] for key in ("url", "available", "reward", "done")}


def test_the_published_goals_are_all_there(data_folder):
    assert len(WebShop(data=str(data_folder), goals="synthetic").tasks("all")) == 6910
    assert len(WebShop(data=str(data_folder), goals="human").tasks("all")) == 13
