from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from xplearn.builtin.record import RecordLearner
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import ConfigError, ContractError
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent


@pytest.fixture
def agent():
    with FakeAgent(position=(2, 1)) as agent:
        yield agent


def test_experience_holds_goal_outcome_and_actions(agent):
    figures = RecordLearner().learn([samples.trajectory(0), samples.trajectory(1)], agent)
    first, second = agent.store
    assert first.content == (
        "Task: boil object number 0\nOutcome: solved, score 1.00 after 3 steps\nActions: open door 0; open door 1; open door 2"
    )
    assert second.content.splitlines()[1] == "Outcome: not solved, score 0.25 after 3 steps"
    assert (first.kind, first.source) == ("record", "train/boil-0/plain/0")
    assert first.id.rpartition("/")[0] == "record/train/boil-0/plain/0"
    assert (first.task, first.task_kind, first.outcome, first.created) == ("boil-0", "boil", 1.0, (2, 1, 0))
    assert figures == {"written": 2.0, "left_out": 0.0, "bank": 2.0}


def test_key_is_encoded_into_its_space(agent):
    RecordLearner(space="start").learn([samples.trajectory(3)], agent)
    (experience,) = agent.store
    assert experience.key == samples.opening(3)[1]["content"]
    assert agent.store.spaces() == {"start": ("core.hashing/256", 256)}
    np.testing.assert_array_equal(agent.store.vectors("start", [experience.id]), agent.encoder.encode([experience.key]))


def test_batch_met_again_writes_nothing(agent):
    learner = RecordLearner()
    learner.learn([samples.trajectory(0)], agent)
    version = agent.store.version
    figures = learner.learn([samples.trajectory(0), samples.trajectory(0)], agent)
    assert figures == {"written": 0.0, "left_out": 2.0, "bank": 1.0}
    assert agent.store.version == version


def test_same_episode_of_another_run_is_an_experience_of_its_own(agent):
    one = samples.trajectory(0)
    others = [
        dataclasses.replace(one, seed=one.seed + 1),
        dataclasses.replace(one, score=0.5),
        dataclasses.replace(one, steps=one.steps[:1]),
    ]
    for other in (one, *others):
        assert RecordLearner().learn([other], agent)["written"] == 1.0
    assert RecordLearner().learn([one, *others], agent)["written"] == 0.0
    assert RecordLearner().learn([dataclasses.replace(one, seconds=9.0)], agent)["written"] == 0.0


def test_same_trajectory_twice_in_a_batch_is_written_once(agent):
    assert RecordLearner().learn([samples.trajectory(0)] * 2, agent)["written"] == 1.0


def test_broken_unsolved_and_weak_trajectories_can_be_left_out(agent):
    batch = [samples.trajectory(0), samples.trajectory(1), samples.trajectory(2, error="died")]
    assert RecordLearner(only_success=True).learn(batch, agent) == {"written": 1.0, "left_out": 2.0, "bank": 1.0}
    assert RecordLearner(min_score=0.2).learn(batch, agent) == {"written": 1.0, "left_out": 2.0, "bank": 2.0}
    assert [experience.task for experience in agent.store] == ["boil-0", "fetch-1"]


def test_runs_of_an_action_are_merged_and_long_outlines_cut(agent):
    trajectory = samples.trajectory(0, length=6)
    actions = ["wait", "wait", "wait", "look", "wait", "go"]
    steps = tuple(dataclasses.replace(step, action=action) for step, action in zip(trajectory.steps, actions, strict=True))
    RecordLearner(max_actions=2).learn([dataclasses.replace(trajectory, steps=steps)], agent)
    assert next(iter(agent.store)).content.splitlines()[2] == "Actions: wait (x3); look; … 2 more"


def test_trajectory_without_steps_is_recorded(agent):
    RecordLearner().learn([samples.trajectory(0, length=0)], agent)
    assert next(iter(agent.store)).content.endswith("after 0 steps\nActions: none")


def test_bank_of_another_encoder_is_refused_and_left_alone(agent):
    RecordLearner().learn([samples.trajectory(0)], agent)
    other = dataclasses.replace(agent, encoder=HashingEncoder(dim=32))
    with pytest.raises(ContractError, match=r"core\.hashing/256.*core\.hashing/32"):
        RecordLearner().learn([samples.trajectory(1)], other)
    assert len(agent.store) == 1


def test_bank_of_another_encoder_is_refused_before_anything_is_played(agent):
    RecordLearner().setup(agent)
    assert agent.store.spaces() == {}
    RecordLearner().learn([samples.trajectory(0)], agent)
    RecordLearner().setup(agent)
    with pytest.raises(ContractError, match=r"core\.hashing/256.*core\.hashing/32"):
        RecordLearner().setup(dataclasses.replace(agent, encoder=HashingEncoder(dim=32)))


def test_provides_a_filled_bank_and_its_space():
    assert RecordLearner(space="start").provides == {"store.filled", "store.space:start"}


def test_impossible_fields_are_refused():
    for field, value in (("space", ""), ("max_actions", 0), ("min_score", 2.0)):
        with pytest.raises(ConfigError, match=f"^{field}: "):
            RecordLearner(**{field: value})
