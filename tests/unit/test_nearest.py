from __future__ import annotations

import dataclasses

import pytest

from xplearn.builtin.nearest import NearestSelector
from xplearn.builtin.record import RecordLearner
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import ConfigError, ContractError
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent


@pytest.fixture
def agent():
    with FakeAgent() as agent:
        RecordLearner().learn([samples.trajectory(number) for number in range(12)], agent)
        yield agent


def ready(agent, **fields) -> NearestSelector:
    selector = NearestSelector(**fields)
    selector.setup(agent)
    return selector


def test_the_most_similar_key_comes_first(agent):
    query = samples.query(5)
    twin = dataclasses.replace(query, task=dataclasses.replace(query.task, id="elsewhere"))
    (selection,) = ready(agent, k=3).select([twin], agent.store)
    assert selection.experiences[0].task == samples.task(5).id
    assert selection.scores[0] == pytest.approx(1.0)
    assert list(selection.scores) == sorted(selection.scores, reverse=True)


def test_task_at_hand_is_left_out_and_k_filled_up(agent):
    (selection,) = ready(agent, k=11).select([samples.query(5)], agent.store)
    assert len(selection.experiences) == 11
    assert samples.task(5).id not in [experience.task for experience in selection.experiences]


def test_what_is_below_the_least_score_is_left_out(agent):
    kept = ready(agent, k=12, min_score=0.7).select([samples.query(5)], agent.store)[0]
    everything = ready(agent, k=12).select([samples.query(5)], agent.store)[0]
    assert 0 < len(kept.scores) < len(everything.scores)
    assert kept.scores == tuple(score for score in everything.scores if score >= 0.7)


def test_bank_of_another_encoder_is_refused(agent):
    selector = ready(FakeAgent(encoder=HashingEncoder(dim=64)))
    with pytest.raises(ContractError, match=r"core\.hashing/256.*core\.hashing/64"):
        selector.select([samples.query(5)], agent.store)


def test_bank_without_the_space_is_refused(agent):
    with pytest.raises(ContractError, match="no space is called 'summary'"):
        ready(agent, space="summary").select([samples.query(5)], agent.store)


def test_choosing_what_to_study_is_refused(agent):
    with pytest.raises(ContractError, match=r"core\.all"):
        ready(agent).select([dataclasses.replace(samples.query(5), purpose="study")], agent.store)


def test_use_before_setup_is_refused(agent):
    with pytest.raises(ContractError, match="before setup"):
        NearestSelector().select([samples.query(5)], agent.store)


def test_needs_the_space_it_is_configured_for():
    assert NearestSelector(space="summary").requires == {"store.space:summary"}


def test_impossible_fields_are_refused():
    for field, value in (("k", 0), ("space", ""), ("min_score", 1.5)):
        with pytest.raises(ConfigError, match=f"^{field}: "):
            NearestSelector(**{field: value})


def test_a_bank_of_another_encoder_is_refused_before_anything_is_played():
    agent = FakeAgent(encoder=HashingEncoder(dim=64))
    agent.store.open_space("key", encoder="core.minilm", dim=384)
    with pytest.raises(ContractError, match=r"encoder 'core\.minilm' with dimension 384.*'core\.hashing.*64"):
        NearestSelector().setup(agent)
