"""Batch width and worker count never change a trajectory, at temperature 1."""

import dataclasses

import pytest

from xplearn.agent import Agent
from xplearn.builtin.conditioners import PromptConditioner
from xplearn.builtin.nearest import NearestSelector
from xplearn.builtin.record import RecordLearner
from xplearn.encoders.hashing import HashingEncoder
from xplearn.policies.scripted import RandomPolicy
from xplearn.rollout.collector import assignments, collect
from xplearn.rollout.pool import open_pool
from xplearn.schema import EnvSpec
from xplearn.stores.memory import MemoryStore
from xplearn.types import Sampling

SPEC = EnvSpec(name="core.errands", fields={"max_steps": 6})


def played(policy, *, width, workers, sampling):
    agent = Agent(
        policy=policy, encoder=HashingEncoder(), store=MemoryStore(), selector=NearestSelector(), conditioner=PromptConditioner(), seed=3
    )
    agent.setup()
    pool = open_pool(SPEC, slots=width, workers=workers)
    try:
        shown = pool.demonstrate([(task, 0) for task in pool.tasks("train")[::6]])
        RecordLearner().learn(list(shown), agent)
        episodes = assignments(pool.tasks("test")[::12], ["plain", "experience"], 2, phase="eval/0/x", scope=("eval",))
        found = {trajectory.id: trajectory for trajectory in collect(agent, pool, episodes, sampling=sampling)}
        assert found.keys() == {episode.id for episode in episodes}
        return found
    finally:
        pool.close()
        agent.close()


def exact(trajectory):
    """The trajectory without what may differ in the last bits, or is a clock."""
    steps = tuple(dataclasses.replace(step, completion=dataclasses.replace(step.completion, logprobs=None)) for step in trajectory.steps)
    return dataclasses.replace(trajectory, steps=steps, seconds=0.0)


def require_identical(make, sampling, ways):
    (width, workers), *others = ways
    reference = played(make(), width=width, workers=workers, sampling=sampling)
    assert len({tuple(step.action for step in found.steps) for found in reference.values()}) > len(reference) / 4, (
        "or the comparison proves nothing"
    )
    for width, workers in others:
        found = played(make(), width=width, workers=workers, sampling=sampling)
        for id, trajectory in reference.items():
            assert exact(found[id]) == exact(trajectory), f"{id} at width {width} with {workers} workers"


def test_random_policy_plays_the_same_whatever_the_width_and_the_workers():
    require_identical(RandomPolicy, Sampling(temperature=1.0), [(1, 0), (3, 0), (8, 0), (1, 1), (3, 2), (8, 2)])


@pytest.mark.slow
@pytest.mark.parametrize("choices", ["free", "admissible"])
def test_language_model_samples_the_same_whatever_the_width_and_the_workers(choices):
    pytest.importorskip("torch")
    from xplearn.testing.fakes import FakePolicy

    sampling = Sampling(temperature=1.0, max_new_tokens=8, choices=choices)
    require_identical(lambda: FakePolicy(context=2048), sampling, [(1, 0), (3, 0), (8, 0), (3, 1), (8, 2)])
