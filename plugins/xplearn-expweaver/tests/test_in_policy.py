"""The adapter inside a policy: what is read, when, and where gradients go."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("torch")

import torch
from xplearn_expweaver.latent import LatentConditioner

from xplearn import Conditioning, Memory, Sampling
from xplearn.testing.agents import FakeAgent
from xplearn.testing.conversations import opening
from xplearn.testing.fakes import FakePolicy, ready_policy

SAMPLING = Sampling(max_new_tokens=12, temperature=1.0, stop=())
KEYS = [5, 6, 7]


def weaving(seed=0, **fields):
    """A tiny policy with the adapter, its weights moved so far that what it reads matters."""
    policy = FakePolicy()
    agent = FakeAgent(policy=policy, seed=seed)
    policy.setup(agent)
    LatentConditioner(**fields).setup(agent)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, value in policy.parameters():
            if name.startswith("sites."):
                value.add_(0.2 * torch.randn(value.shape, generator=generator))
            elif "lora_B" in name:
                value.add_(0.02 * torch.randn(value.shape, generator=generator))
    return policy


def bank(count=20, *, seed=1, barred=()):
    states = 5.0 * torch.randn(count, 32, generator=torch.Generator().manual_seed(seed))
    return Memory(states=states, ids=tuple(map(str, range(count))), barred=barred)


def shown(memory, *, count=3):
    return [Conditioning(messages=tuple(opening(row)), memory=memory) for row in range(count)]


def logprobs(policy, conditionings, completions):
    with torch.no_grad():
        return policy.score(conditionings, completions).logprobs


@pytest.mark.parametrize("empty", [None, Memory(states=torch.zeros(0, 32), ids=()), bank(3, barred=(0, 1, 2))])
def test_without_anything_to_read_numbers_are_the_base_model_s_bit_for_bit(empty):
    base, policy = ready_policy(), weaving()
    with torch.no_grad():
        for name, value in base.parameters():
            value.copy_(dict(policy.parameters())[name])
    bare, held = shown(None), shown(empty)
    said = base.generate(bare, SAMPLING, KEYS)
    assert [row.logprobs for row in policy.generate(held, SAMPLING, KEYS)] == [row.logprobs for row in said]
    assert torch.equal(logprobs(policy, held, said), logprobs(base, bare, said))


def test_silent_adapters_give_the_reference_bit_for_bit():
    base, policy = ready_policy(), weaving()
    said = base.generate(shown(None), SAMPLING, KEYS)
    with base.reference(), policy.reference():
        assert torch.equal(logprobs(policy, shown(bank()), said), logprobs(base, shown(None), said))


def test_the_prompt_is_read_without_injection():
    policy, memory = weaving(), bank()
    policy.generate(shown(memory), SAMPLING, KEYS)
    network = policy._ready.network
    assert not network.sites.within  # keys and values of every position, the prompt's too, are the bare model's
    assert torch.equal(policy.encode(["a cup"]), weaving(gate="none").encode(["a cup"]))


@pytest.mark.parametrize(
    "fields", [{}, {"query_mode": "u_plus_h", "value_proj": True, "k": 3}, {"every": "completion"}, {"k": 50}, {"pooling": "mean"}]
)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_step_by_step_gives_what_one_pass_gives(fields, temperature):
    policy, memory = weaving(**fields), bank(barred=(4, 9))
    conditionings = shown(memory)
    said = policy.generate(conditionings, dataclasses.replace(SAMPLING, temperature=temperature), KEYS)
    drawn = torch.nn.utils.rnn.pad_sequence([torch.tensor(row.logprobs) for row in said], batch_first=True)
    assert torch.allclose(logprobs(policy, conditionings, said), drawn, atol=1e-4)
    anew = [dataclasses.replace(row, retrieved=None) for row in said]
    assert torch.allclose(logprobs(policy, conditionings, anew), drawn, atol=1e-4)
    assert not torch.allclose(logprobs(policy, shown(None), said), drawn, atol=1e-2)


def test_every_token_reads_its_own_k_rows_and_never_a_barred_one():
    policy = weaving(k=4)
    said = policy.generate(shown(bank(barred=(0, 7))), SAMPLING, KEYS)
    for row in said:
        assert all(len(set(token)) == 4 for token in row.retrieved)
        assert not {0, 7} & {found for token in row.retrieved for found in token}
    assert len({token for row in said for token in row.retrieved}) > 3


def test_retrieval_once_keeps_the_first_rows():
    for row in weaving(every="completion").generate(shown(bank()), SAMPLING, KEYS):
        assert len(set(row.retrieved)) == 1


def test_a_bank_smaller_than_k_is_read_whole():
    policy = weaving(k=5)
    said = policy.generate(shown(bank(3, barred=(1,))), SAMPLING, KEYS)
    assert all(set(token) == {0, 2} for row in said for token in row.retrieved)


@pytest.mark.parametrize("width", [1, 8])
def test_batch_width_changes_nothing(width):
    policy, conditionings = weaving(), shown(bank(200), count=8)
    keys = list(range(8))
    together = policy.generate(conditionings, SAMPLING, keys)
    parts = [policy.generate(conditionings[at : at + width], SAMPLING, keys[at : at + width]) for at in range(0, 8, width)]
    apart = [row for part in parts for row in part]
    assert [row.token_ids for row in apart] == [row.token_ids for row in together]
    assert [row.retrieved for row in apart] == [row.retrieved for row in together]


def test_gradients_reach_adapter_and_lora_and_never_the_stored_states():
    policy, memory = weaving(), bank()
    said = policy.generate(shown(memory), SAMPLING, KEYS)
    policy.score(shown(memory), said).logprobs.sum().backward()
    gradients = {name: value.grad for name, value in policy.parameters()}
    assert all(gradient is not None and bool(gradient.any()) for gradient in gradients.values())
    assert {name.rpartition("sites.0.norm.")[2] for name in gradients if "sites" in name} >= {
        "pooling.u",
        "pooling.query.weight",
        "pooling.key.weight",
        "gate.retain.weight",
        "gate.input.weight",
        "gate.lambda_",
    }
    assert any("lora_A" in name for name in gradients)
    assert memory.states.grad is None
    assert not memory.states.requires_grad


def test_at_first_the_effect_is_small():
    policy, base = FakePolicy(), ready_policy()
    agent = FakeAgent(policy=policy)
    policy.setup(agent)
    LatentConditioner().setup(agent)
    said = base.generate(shown(None), SAMPLING, KEYS)
    change = (logprobs(policy, shown(bank()), said) - logprobs(base, shown(None), said)).abs()
    assert 0 < change.max() < 1.5
    assert change.mean() < 0.2
