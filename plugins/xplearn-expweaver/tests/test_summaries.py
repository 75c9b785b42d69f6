from __future__ import annotations

import dataclasses
import random

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from xplearn_expweaver.states import encoder_id
from xplearn_expweaver.summaries import SummaryWriter, summary_id

from xplearn import Completion, ConfigError, ContractError
from xplearn.encoders.policy_state import PolicyEncoder
from xplearn.keys import trajectory_key
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts import LearnerContract
from xplearn.testing.fakes import FakePolicy

GOOD = "Problem: reach a door\nKey step: open it\nOutcome: success\nNext time: open it at once"


@dataclasses.dataclass(kw_only=True)
class TellingPolicy(FakePolicy):
    """A tiny language model that says one thing, and remembers what it was asked."""

    says: str = GOOD
    finish: str = "stop"

    def setup(self, agent):
        super().setup(agent)
        self.calls = []

    def generate(self, conditionings, sampling, keys, choices=None):
        self.calls.append((list(conditionings), sampling))
        return [Completion(text="" if self.finish == "context" else self.says, finish=self.finish) for _ in conditionings]


def beside(**fields):
    return FakeAgent(policy=TellingPolicy(**fields))


def played(number, *, replica=0, score=1.0, success=None, round=0, error=None):
    """An episode of task ``number`` in some round."""
    made = samples.trajectory(number, length=2, error=error)
    return dataclasses.replace(
        made, id=f"train/0/{round}/{made.task.id}/experience/{replica}", score=score, success=score == 1.0 if success is None else success
    )


def learned(agent, episodes, **fields):
    part = SummaryWriter(**fields)
    part.setup(agent)
    return part.learn(episodes, agent)


def move(policy):
    with policy.training(), torch.no_grad():
        for _, value in policy.parameters():
            value.add_(0.05)


class TestByRules(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: SummaryWriter(writer="rules", key_space="")

    @pytest.fixture
    def new_agent(self):
        return lambda: FakeAgent(policy=FakePolicy())


class TestByPolicy(LearnerContract):
    @pytest.fixture
    def make(self):
        return lambda: SummaryWriter(max_tokens=6, batch=3)

    @pytest.fixture
    def new_agent(self):
        return lambda: FakeAgent(policy=FakePolicy(context=4096))


def test_a_summary_is_the_policy_s_words_with_the_true_outcome():
    with beside() as agent:
        agent.position = (1, 2)
        figures = learned(agent, [played(0), played(1, score=0.25)])
        first, second = agent.store
    assert first.content == GOOD
    assert second.content == GOOD.replace("success", "failure")
    assert (second.kind, second.task, second.source, second.outcome) == ("summary", "fetch-1", played(1).id, 0.25)
    assert second.key == trajectory_key(played(1))
    assert second.created == (1, 2, 0)
    assert second.meta == {"writer": "policy", "usable": True, "encoded": 0}
    assert figures == {"written": 2.0, "left_out": 0.0, "evicted": 0.0, "refreshed": 0.0, "unusable": 0.0, "bank": 2.0}


def test_all_of_a_round_is_asked_at_once_greedily_and_without_memory():
    with beside() as agent:
        learned(agent, [played(number) for number in range(6)])
        ((conditionings, sampling),) = agent.policy.calls
    assert len(conditionings) == 6
    assert all(conditioning.memory is None for conditioning in conditionings)
    assert (sampling.temperature, sampling.max_new_tokens) == (0.0, 64)
    assert "Outcome: success" in conditionings[0].messages[-1]["content"]


@pytest.mark.parametrize("fields", [{"says": "no idea"}, {"finish": "context"}])
def test_words_of_no_use_give_way_to_the_rules_and_are_counted(fields):
    with beside(**fields) as agent:
        figures = learned(agent, [played(0)])
        (summary,) = agent.store
    assert figures["unusable"] == 1.0
    assert summary.content.startswith("Problem: boil object number 0 You are in room 0.")
    assert "Key step: open door 0; open door 1\nOutcome: success\nNext time: do the same again" in summary.content


def test_rules_never_ask_the_policy():
    with beside() as agent:
        assert learned(agent, [played(0)], writer="rules")["unusable"] == 0.0
        assert agent.policy.calls == []


@pytest.mark.parametrize("as_turn", [True, False])
def test_the_vector_is_the_policy_s_own_state_of_the_summary(as_turn):
    with beside() as agent:
        learned(agent, [played(0), played(1)], as_turn=as_turn)
        summaries = list(agent.store)
        vectors = agent.store.vectors("state", [summary.id for summary in summaries])
        own = agent.policy.encode([summary.content for summary in summaries], as_turn=as_turn).numpy()
        np.testing.assert_array_equal(vectors, own)
        assert agent.store.spaces()["state"] == (encoder_id(agent.policy, as_turn=as_turn), 32)
        keys = agent.store.vectors("key", [summary.id for summary in summaries])
        np.testing.assert_array_equal(keys, agent.encoder.encode([summary.key for summary in summaries]))


def test_at_most_one_success_and_one_failure_of_a_task_and_round():
    batch = [played(0, replica=replica, score=score) for replica, score in enumerate([0.0, 1.0, 0.5, 1.0])]
    with beside() as agent:
        assert learned(agent, [*batch, played(0, round=1)])["written"] == 2.0
        assert [(summary.outcome, summary.source) for summary in agent.store] == [(1.0, batch[1].id), (0.5, batch[2].id)]
        assert learned(agent, [played(0, round=1)])["written"] == 1.0


@pytest.mark.parametrize(("keep", "outcomes"), [("both", {1.0, 0.5}), ("success", {1.0}), ("failure", {0.5})])
def test_only_wanted_outcomes_are_kept(keep, outcomes):
    with beside() as agent:
        learned(agent, [played(0), played(0, replica=1, score=0.5)], keep=keep)
        assert {summary.outcome for summary in agent.store} == outcomes


def test_a_graded_reward_succeeds_from_a_score_on():
    with beside() as agent:
        learned(agent, [played(0, score=0.63, success=False), played(1, score=0.4, success=True)], success_score=0.5)
        assert ["Outcome: success" in summary.content for summary in agent.store] == [True, False]


def test_first_in_first_out():
    with beside() as agent:
        for round in range(3):
            figures = learned(agent, [played(number, round=round) for number in range(2)], capacity=3)
        assert [summary.source.split("/")[2:4] for summary in agent.store] == [["1", "fetch-1"], ["2", "boil-0"], ["2", "fetch-1"]]
        assert (figures["evicted"], figures["bank"]) == (2.0, 3.0)


def test_experience_of_others_is_not_evicted():
    with beside() as agent:
        agent.store.add([samples.experience(7)])
        learned(agent, [played(number) for number in range(4)], capacity=2)
        assert [experience.kind for experience in agent.store] == ["record", "summary", "summary"]


@pytest.mark.parametrize("capacity", [2, 2000])
def test_a_batch_that_is_met_again_writes_nothing(capacity):
    batch = [played(number, score=number / 4) for number in range(5)]
    with beside() as agent:
        learned(agent, batch, capacity=capacity)
        before, asked = agent.store.digest(), len(agent.policy.calls)
        assert learned(agent, batch, capacity=capacity)["written"] == 0.0
        assert agent.store.digest() == before
        assert len(agent.policy.calls) == asked


def test_the_order_of_the_batch_does_not_matter():
    batch = [played(number % 3, replica=number, score=(number % 2) / 1.0) for number in range(12)]
    digests = set()
    for seed in range(3):
        mixed = random.Random(seed).sample(batch, len(batch))
        with beside() as agent:
            learned(agent, mixed)
            digests.add(agent.store.digest())
    assert len(digests) == 1


def test_episodes_that_died_or_never_began_are_left_out():
    with beside() as agent:
        empty = dataclasses.replace(played(1), steps=())
        assert learned(agent, [played(0, error="died"), empty])["left_out"] == 2.0
        assert len(agent.store) == 0


def test_a_call_cut_short_goes_on_where_it_was():
    batch = [played(number) for number in range(5)]
    with beside() as agent:
        learned(agent, batch, batch=2)
        whole, saved = agent.store.digest(), agent.checkpoint.state
        assert [done for done, _, _ in agent.checkpoint.reports] == [2, 4, 5]
    saved = {"said": dict(list(saved["said"].items())[:4])}
    with beside() as agent:
        agent.checkpoint.state = saved
        learned(agent, batch, batch=2)
        assert agent.store.digest() == whole
        assert [len(conditionings) for conditionings, _ in agent.policy.calls] == [1]


def test_old_summaries_keep_the_vector_they_were_written_with():
    with beside() as agent:
        learned(agent, [played(0)])
        before = agent.store.vectors("state", [summary_id(played(0))])
        move(agent.policy)
        assert learned(agent, [played(1)])["refreshed"] == 0.0
        np.testing.assert_array_equal(agent.store.vectors("state", [summary_id(played(0))]), before)
        assert not np.allclose(agent.policy.encode([next(iter(agent.store)).content]).numpy(), before, atol=1e-3)


def test_summaries_are_encoded_anew_every_so_often():
    with beside() as agent:
        learned(agent, [played(0), played(1)], refresh_every=2)
        order = [summary.id for summary in agent.store]
        refreshed = []
        for round in (1, 2, 3):
            move(agent.policy)
            refreshed.append(learned(agent, [played(0, round=round)], refresh_every=2)["refreshed"])
            if round == 2:
                vectors = agent.store.vectors("state", order)
                own = agent.policy.encode([summary.content for summary in agent.store.get(order)], as_turn=True).numpy()
                np.testing.assert_allclose(vectors, own, atol=1e-5)
        assert refreshed == [0.0, 3.0, 0.0]
        assert [summary.id for summary in agent.store][:2] == order
        assert {summary.meta["encoded"] for summary in agent.store} == {2, 3}


def test_a_bank_of_another_model_is_refused_before_the_first_episode():
    with beside() as agent:
        agent.store.open_space("state", encoder="expweaver.state/HfPolicy/qwen", dim=32)
        with pytest.raises(ContractError, match="HfPolicy/qwen") as error:
            SummaryWriter().setup(agent)
        assert encoder_id(agent.policy) in str(error.value)


def test_keys_in_the_policy_s_own_space_make_the_text_arm():
    """``selector: core.nearest`` with ``encoder: {name: core.policy, weights: current}`` finds summaries by the policy's states."""
    from xplearn.builtin.nearest import NearestSelector

    with FakeAgent(policy=TellingPolicy(), encoder=PolicyEncoder(weights="current")) as agent:
        learned(agent, [played(number) for number in range(4)])
        selector = NearestSelector(k=2)
        selector.setup(agent)
        (selection,) = selector.select([samples.query(20)], agent.store)
    assert len(selection.experiences) == 2


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"capacity": 0}, "capacity"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"batch": 0}, "batch"),
        ({"refresh_every": -1}, "refresh_every"),
        ({"shown_chars": 10}, "shown_chars"),
        ({"success_score": 1.5}, "success_score"),
        ({"space": ""}, "space"),
        ({"key_space": "state"}, "key_space"),
    ],
)
def test_a_field_out_of_range_is_refused_by_name(fields, path):
    with pytest.raises(ConfigError) as error:
        SummaryWriter(**fields)
    assert error.value.path == path
