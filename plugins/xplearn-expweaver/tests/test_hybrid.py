import pytest

pytest.importorskip("torch")

import torch
from xplearn_expweaver.hybrid import HybridConditioner
from xplearn_expweaver.thinking import Expectation

from xplearn import Conditioning, ConfigError, Query, Sampling, Selection
from xplearn.testing.agents import FakeAgent
from xplearn.testing.fakes import ready_policy
from xplearn.testing.samples import task

FREE = Sampling(max_new_tokens=8, temperature=1.0, stop=())
SHOWN = [Conditioning(messages=({"role": "user", "content": f"You see {row} cups."},)) for row in range(4)]
KEYS = [0, 1, 2, 3]


def thinking(**settings):
    policy = ready_policy()
    HybridConditioner(**settings).setup(FakeAgent(policy=policy))
    return policy


def test_drawn_and_scored_logprobs_agree():
    policy = thinking(r_min=0.5)
    said = policy.generate(SHOWN, FREE, KEYS)
    scores = policy.score(SHOWN, said).logprobs.detach()
    for row, completion in enumerate(said):
        assert scores[row].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


def test_the_carried_vector_is_the_expected_embedding():
    logits, table = torch.randn(3, 11), torch.randn(11, 8)
    module = Expectation(8, temperature=0.5, r_min=0.9, r_max=0.99, c=8.0)
    chances = (logits / 0.5).softmax(-1)
    expected = torch.stack([(row[:, None] * table).sum(0) / row.norm() for row in chances])
    assert torch.allclose(module.think(torch.zeros(3, 8), logits, table), expected, atol=1e-5)


def test_a_sure_policy_carries_the_tokens_own_embedding():
    logits, table = torch.full((1, 11), -50.0), torch.randn(11, 8)
    logits[0, 4] = 50.0
    module = Expectation(8, temperature=0.5, r_min=0.9, r_max=0.99, c=8.0)
    assert torch.allclose(module.think(torch.zeros(1, 8), logits, table)[0], table[4], atol=1e-4)


def test_the_smaller_the_least_weight_the_more_is_carried():
    bare = ready_policy().generate(SHOWN, FREE, KEYS)
    faint, strong = (thinking(r_min=least, r_max=least).generate(SHOWN, FREE, KEYS) for least in (0.9999, 0.5))

    def moved(said):
        return sum(abs(one.logprobs[1] - two.logprobs[1]) for one, two in zip(bare, said, strict=True))

    assert moved(faint) < moved(strong)


def test_nothing_is_shown():
    query = Query(purpose="act", task=task(0), messages=SHOWN[0].messages)
    assert HybridConditioner().condition([query], [Selection()]) == [Conditioning(messages=query.messages)]


def test_first_weights_depend_on_the_seed_alone():
    first, second = (dict(thinking().parameters()) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert any(name.endswith("gate.lambda_") for name in first)


@pytest.mark.parametrize("wrong", [{"r_min": 0.0}, {"r_min": 0.9995}, {"temperature": 0.0}, {"c": 0.0}])
def test_wrong_fields_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        HybridConditioner(**wrong)
