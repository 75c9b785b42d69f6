"""Episodes recorded on TextWorld 1.7.0 with ALFWorld's rules: the same text, the same commands, the same end."""

from __future__ import annotations

import gzip
import json

import pytest
from xplearn_alfworld.environment import AlfWorld

EPISODES = 24


@pytest.fixture(scope="module")
def transcripts(data_folder):
    with gzip.open(data_folder / "textworld_traces.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def env(data_folder):
    return AlfWorld(data=str(data_folder / "valid_seen.jsonl.xz"), faithful=True)


@pytest.fixture(scope="module")
def tasks(env):
    return {task.id: task for task in env.tasks("valid_seen")}


@pytest.mark.parametrize("number", range(EPISODES))
def test_a_recorded_episode_is_reproduced_to_the_letter(env, tasks, transcripts, number):
    assert len(transcripts) == EPISODES
    start, *steps = transcripts[number]["steps"]
    observation = env.reset(tasks[transcripts[number]["id"]], seed=0)
    assert (observation.text, list(observation.actions)) == (start["observation"], start["admissible"])
    for step in steps:
        outcome = env.step(step["action"])
        assert outcome.observation.text == step["observation"]
        assert list(outcome.observation.actions) == step["admissible"]
        assert (outcome.info["won"], outcome.terminated, outcome.truncated) == (step["won"], step["won"], False)
