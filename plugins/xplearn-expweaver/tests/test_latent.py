from __future__ import annotations

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from xplearn_expweaver.latent import LatentConditioner
from xplearn_expweaver.states import encoder_id

from xplearn import ConfigError, ContractError, Selection
from xplearn.builtin.selectors import AllSelector
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent
from xplearn.testing.contracts import ConditionerContract
from xplearn.testing.fakes import FakePolicy


def ready(agent, **fields):
    part = LatentConditioner(**fields)
    part.setup(agent)
    return part


def everything(agent, *queries):
    return AllSelector().select(list(queries), agent.store)


def some(*numbers):
    return Selection(experiences=tuple(samples.experience(number) for number in numbers))


class TestLatentConditioner(ConditionerContract):
    @pytest.fixture
    def make(self):
        return LatentConditioner

    @pytest.fixture
    def agent(self, beside_policy):
        return beside_policy

    def test_state_is_plain_and_can_be_loaded_by_a_new_part(self, make, agent):
        """As the contract's, each part beside a policy of its own: a policy takes one adapter that retrieves."""
        with FakeAgent(policy=FakePolicy()) as another:
            first, second = make(), make()
            first.setup(agent)
            second.setup(another)
            second.load_state_dict(first.state_dict())
            assert second.state_dict() == first.state_dict() == {}


def test_rows_that_may_read_the_whole_bank_share_one_tensor(beside_policy):
    part, queries = ready(beside_policy), [samples.query(20), samples.query(3)]
    one, other = part.condition(queries, everything(beside_policy, *queries))
    assert one.messages == queries[0].messages
    assert one.memory.states is other.memory.states
    assert one.memory.states.dtype == torch.float32
    np.testing.assert_array_equal(one.memory.states.numpy(), beside_policy.store.vectors("state", one.memory.ids))
    assert one.memory.ids == other.memory.ids == tuple(f"experience-{number}" for number in range(10))
    assert one.memory.barred == ()
    assert other.memory.barred == (3,)


def test_the_shared_tensor_lasts_as_long_as_the_bank(beside_policy):
    part, query = ready(beside_policy), samples.query(20)
    (first,) = part.condition([query], everything(beside_policy, query))
    (again,) = part.condition([query], everything(beside_policy, query))
    assert again.memory.states is first.memory.states
    beside_policy.store.remove(["experience-0"])
    (after,) = part.condition([query], everything(beside_policy, query))
    assert after.memory.ids == first.memory.ids[1:]
    assert torch.equal(after.memory.states, first.memory.states[1:])


def test_a_small_selection_gets_its_own_rows_and_equal_ones_share_them(beside_policy):
    part, queries = ready(beside_policy), [samples.query(20), samples.query(21), samples.query(22)]
    one, other, third = (found.memory for found in part.condition(queries, [some(8, 2), some(8, 2), some(2, 8)]))
    assert one.ids == ("experience-8", "experience-2")
    assert one.states is other.states
    assert third.ids == ("experience-2", "experience-8")
    np.testing.assert_array_equal(one.states.numpy(), beside_policy.store.vectors("state", one.ids))


def test_what_was_made_from_the_task_at_hand_is_never_readable(beside_policy):
    part, query = ready(beside_policy), samples.query(3)
    whole, few, only = part.condition([query] * 3, [some(*range(10)), some(3, 5), some(3)])
    assert whole.memory.barred == (3,)
    assert few.memory.ids == ("experience-5",)
    assert only.memory is None
    assert only.messages == query.messages


def test_experience_without_a_state_is_passed_over(beside_policy):
    beside_policy.store.add([samples.experience(30)])
    part, query = ready(beside_policy), samples.query(20)
    assert part.condition([query], [some(30, 4)])[0].memory.ids == ("experience-4",)
    assert part.condition([query], [some(30)])[0].memory is None
    assert part.condition([query], everything(beside_policy, query))[0].memory.barred == ()


def test_a_bank_without_the_space_gives_nothing_to_read():
    with FakeAgent(policy=FakePolicy()) as agent:
        part = ready(agent)
        agent.store.add([samples.experience(1)])
        assert part.condition([samples.query(0)], [some(1)])[0].memory is None


@pytest.mark.parametrize(("encoder", "dim"), [("expweaver.state/HfPolicy/qwen", 32), ("", 64)])
def test_a_bank_of_another_model_or_width_is_refused_naming_both(encoder, dim):
    with FakeAgent(policy=FakePolicy()) as agent:
        own = encoder_id(agent.policy)
        agent.store.open_space("state", encoder=encoder or own, dim=dim)
        with pytest.raises(ContractError) as error:
            ready(agent)
    assert f"'{encoder or own}' with {dim} numbers" in str(error.value)
    assert f"'{own}' with 32" in str(error.value)


def test_a_model_of_the_same_name_with_other_weights_is_another():
    with FakeAgent(policy=FakePolicy()) as agent, FakeAgent(policy=FakePolicy(seed=1)) as other:
        other.store.open_space("state", encoder=encoder_id(agent.policy), dim=32)
        with pytest.raises(ContractError, match="this policy's states"):
            ready(other)


def test_a_bank_of_another_model_is_refused_also_when_it_comes_later():
    with FakeAgent(policy=FakePolicy()) as agent:
        part = ready(agent)
        agent.store.open_space("state", encoder="expweaver.state/HfPolicy/qwen", dim=32)
        agent.store.add([samples.experience(1)], {"state": np.ones((1, 32), dtype=np.float32)})
        with pytest.raises(ContractError, match="HfPolicy/qwen"):
            part.condition([samples.query(0)], [some(1)])


def test_used_before_setup_says_so():
    with pytest.raises(ContractError, match="before setup"):
        LatentConditioner().condition([samples.query(0)], [some(1)])


def test_the_adapter_s_parameters_are_the_policy_s_and_lambda_has_its_own_rate(beside_policy):
    from fnmatch import fnmatch

    ready(beside_policy)
    names = [name for name, _ in beside_policy.policy.parameters() if name.startswith("sites.")]
    assert set(names) == {
        f"sites.0.norm.{part}"
        for part in (
            "pooling.u",
            "pooling.query.weight",
            "pooling.key.weight",
            "gate.retain.weight",
            "gate.retain.bias",
            "gate.input.weight",
            "gate.input.bias",
            "gate.lambda_",
        )
    }
    assert [name for name in names if fnmatch(name, "sites.*.lambda*")] == ["sites.0.norm.gate.lambda_"]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"k": 0}, "k"),
        ({"space": ""}, "space"),
        ({"attention_width": -1}, "attention_width"),
        ({"pooling": "mean", "query_mode": "u_plus_h"}, "query_mode"),
        ({"pooling": "similarity", "value_proj": True}, "value_proj"),
        ({"pooling": "mean", "attention_width": 8}, "attention_width"),
        ({"gate": "fixed"}, "fixed_a"),
        ({"fixed_a": 0.9}, "fixed_a"),
        ({"gate": "fixed", "fixed_a": 1.0}, "fixed_a"),
        ({"r_min": 0.0}, "r_min"),
        ({"r_min": 0.9995}, "r_min"),
        ({"r_max": 1.0}, "r_min"),
        ({"c": 0.0}, "c"),
    ],
)
def test_a_field_out_of_range_is_refused_by_name(fields, path):
    with pytest.raises(ConfigError) as error:
        LatentConditioner(**fields)
    assert error.value.path == path
