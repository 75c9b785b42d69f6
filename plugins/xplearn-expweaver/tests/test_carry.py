import pytest

pytest.importorskip("torch")

import torch
from xplearn_expweaver.adapter import aligned
from xplearn_expweaver.latent import LatentConditioner
from xplearn_expweaver.states import encoder_id, states

from xplearn import Conditioning, Experience, Query, Sampling, Selection, make
from xplearn.testing.agents import FakeAgent
from xplearn.testing.fakes import ready_policy
from xplearn.testing.samples import task

FREE = Sampling(max_new_tokens=8, temperature=1.0, stop=())
TEXTS = ("take the cup", "open the door", "wait for it", "look around")


def shown(policy, carry):
    """Two conditionings of one conversation: with the bank, and without."""
    store = make("store", "core.memory")
    agent = FakeAgent(policy=policy, store=store)
    store.setup(agent)
    bank = tuple(Experience(id=f"e{at}", kind="summary", key=text, content=text, task=f"other{at}") for at, text in enumerate(TEXTS))
    store.open_space("state", encoder=encoder_id(policy), dim=32)
    store.add(bank, {"state": states(policy, [entry.content for entry in bank])})
    part = LatentConditioner(k=2, carry=carry, r_min=0.3, r_max=0.4)
    part.setup(agent)
    query = Query(purpose="act", task=task(0), messages=({"role": "user", "content": "You see a cup."},))
    return part.condition([query, query], [Selection(experiences=bank, scores=(0.0,) * len(bank)), Selection()])


def test_drawn_and_scored_logprobs_agree():
    policy = ready_policy()
    rows = shown(policy, carry=True)
    said = policy.generate(rows, FREE, [0, 1])
    scores = policy.score(rows, said).logprobs.detach()
    for row, completion in enumerate(said):
        assert scores[row].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


def test_the_plain_arm_carries_nothing():
    policy, bare = ready_policy(), ready_policy()
    plain = shown(policy, carry=True)[1]
    (with_module,), (without,) = policy.generate([plain], FREE, [1]), bare.generate([plain], FREE, [1])
    assert with_module.thoughts is None
    assert with_module.logprobs == without.logprobs


def test_the_changed_state_is_what_is_carried():
    policy = ready_policy()
    said = policy.generate(shown(policy, carry=True)[:1], FREE, [0])
    first = said[0].thoughts[0]
    prompt = torch.tensor([said[0].prompt_ids])
    network = policy._ready.network
    with torch.no_grad():
        before = network.hidden(prompt, torch.arange(prompt.shape[1])[None])[0, -1]
    assert not torch.allclose(first, before, atol=1e-3)
    assert aligned(first[None], before[None]).norm() == pytest.approx(float(before.norm()), rel=1e-4)


def test_carrying_changes_later_tokens_and_not_the_first():
    one, two = ready_policy(), ready_policy()
    (off,), (on,) = one.generate(shown(one, carry=False)[:1], FREE, [0]), two.generate(shown(two, carry=True)[:1], FREE, [0])
    assert off.logprobs[0] == pytest.approx(on.logprobs[0], abs=1e-5)
    assert off.logprobs[1] != pytest.approx(on.logprobs[1], abs=1e-3)


def test_gradients_reach_both_gates():
    policy = ready_policy()
    rows = shown(policy, carry=True)[:1]
    policy.score(rows, policy.generate(rows, FREE, [0])).logprobs.sum().backward()
    gates = [name for name, value in policy.parameters() if name.endswith("lambda_") and value.grad is not None and value.grad.any()]
    assert [name.split(".")[2] for name in gates] == ["norm", "input"]


def test_neighbours_change_nothing():
    policy = ready_policy()
    rows = shown(policy, carry=True)
    together = policy.generate([*rows, *rows], FREE, [0, 1, 2, 3])
    alone = [policy.generate([row], FREE, [key])[0] for key, row in enumerate([*rows, *rows])]
    assert [completion.token_ids for completion in together] == [completion.token_ids for completion in alone]


def test_conditionings_are_the_same_with_and_without():
    assert shown(ready_policy(), carry=True)[1] == Conditioning(messages=({"role": "user", "content": "You see a cup."},))
