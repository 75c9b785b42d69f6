"""Probabilities of tokens that were not drawn: the whole distribution, its likeliest part, and its place in scoring."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")

import numpy as np
import torch

from xplearn.errors import ContractError
from xplearn.interfaces.policy import NO_ID, Support
from xplearn.learning.drawn import Drawn, likely, passes, positions, read
from xplearn.learning.losses import reverse_kl
from xplearn.policies import scoring
from xplearn.policies.support import asked_at
from xplearn.policies.weights import LoraConfig
from xplearn.testing.dial import DialPolicy
from xplearn.testing.fakes import GatedRead, ready_policy, tiny_model, tiny_tokenizer
from xplearn.types import Completion, Conditioning, Memory, Sampling

ACTIONS = ("go to hall", "go to hall slowly", "open door to hall", "take the cup", "wait")
FREE = Sampling(max_new_tokens=6, temperature=0.7, stop=())
CHOOSE = Sampling(temperature=0.7, choices="admissible")
ORDERED = Sampling(temperature=1.0, choices="rank")
MEMORY = Memory(states=torch.randn(3, 32, generator=torch.Generator().manual_seed(3)), ids=("a", "b", "c"))


def shown(turns=4, memory=None):
    messages, found = [{"role": "system", "content": "You act in a house."}], []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"You see {turn} cups."})
        found.append(Conditioning(messages=tuple(messages), memory=memory))
        messages.append({"role": "assistant", "content": ACTIONS[turn % 5]})
    return found


def drawn(policy, sampling, turns=4, memory=None):
    rows = shown(turns, memory)
    return rows, policy.generate(rows, sampling, list(range(turns)), [ACTIONS] * turns)


def by_transformers(completion):
    """Log-probabilities ``[t, V]`` by a plain forward pass of the bare model."""
    ids = torch.tensor([completion.prompt_ids + completion.token_ids])
    with torch.no_grad():
        logits = tiny_model()(ids).logits[0, len(completion.prompt_ids) - 1 : -1]
    return (logits / completion.sampling.temperature).log_softmax(-1)


@pytest.fixture
def policy():
    return ready_policy()


def moved(policy):
    """Away from its first weights, so that gradients and adapters are at work."""
    with torch.no_grad():
        for _, value in policy.parameters():
            value.add_(0.05 * torch.randn(value.shape, generator=torch.Generator().manual_seed(4)))
    return policy


@pytest.fixture
def hot(policy):
    policy.attach(GatedRead(32, gate=0.5))
    return moved(policy)


def test_the_whole_vocabulary_is_that_of_a_plain_forward_pass(policy):
    rows, said = drawn(policy, FREE)
    for support, completion in zip(policy.likely(rows, said, k=None), said, strict=True):
        assert torch.allclose(support.logprobs, by_transformers(completion), atol=1e-4)
        assert support.ids.tolist() == [list(range(len(tiny_tokenizer())))] * len(completion.token_ids)


def test_ids_of_the_whole_vocabulary_take_no_memory_of_their_own(policy):
    rows, said = drawn(policy, FREE)
    (support, *_) = policy.likely(rows, said, k=None)
    assert support.ids.untyped_storage().nbytes() == 8 * len(tiny_tokenizer())


def test_the_likeliest_are_the_first_of_a_plain_forward_pass_in_order(policy):
    rows, said = drawn(policy, FREE)
    for support, completion in zip(policy.likely(rows, said, k=5), said, strict=True):
        values, ids = by_transformers(completion).topk(5)
        assert support.ids.tolist() == ids.tolist()
        assert torch.allclose(support.logprobs, values, atol=1e-4)


def test_more_than_the_vocabulary_is_the_vocabulary(policy):
    rows, said = drawn(policy, FREE)
    assert policy.likely(rows, said, k=10**6)[0].ids.shape[1] == len(tiny_tokenizer())


def test_admissible_choices_list_the_ids_of_the_trie_alone(policy):
    rows = shown()
    said = [replace(row, sampling=CHOOSE) for row in policy.transcribe(rows, ["go to hall", "wait", "go to hall slowly", "take the cup"])]
    for support, completion in zip(policy.likely(rows, said, [ACTIONS] * 4, k=None), said, strict=True):
        allowed = policy._ready.tries(ACTIONS).allowed(completion.token_ids)
        for place, (token, ids) in enumerate(zip(completion.token_ids, allowed, strict=True)):
            listed = support.ids[place][support.ids[place] != NO_ID].tolist()
            assert sorted(listed) == ([token] if ids is None else ids.tolist())
            assert support.logprobs[place].exp().sum().item() == pytest.approx(1.0, abs=1e-5)
            assert (support.logprobs[place].isneginf() == (support.ids[place] == NO_ID)).all()
            if ids is None:
                assert support.logprobs[place, 0].item() == 0.0


def test_fewer_than_are_admissible_are_the_likeliest_of_them(policy):
    rows, said = drawn(policy, CHOOSE)
    every, some = (policy.likely(rows, said, [ACTIONS] * 4, k=k) for k in (None, 2))
    for whole, part in zip(every, some, strict=True):
        assert part.ids.shape[1] == 2
        assert part.ids.tolist() == whole.ids[:, :2].tolist()


def test_rows_with_and_without_choices_are_read_together(policy):
    rows, free = drawn(policy, FREE)
    _, chosen = drawn(policy, CHOOSE)
    said, choices = [free[0], chosen[1], free[2], chosen[3]], [None, ACTIONS, None, ACTIONS]
    for k in (3, None):
        together = policy.likely(rows, said, choices, k=k)
        alone = [policy.likely([row], [one], [offered], k=k)[0] for row, one, offered in zip(rows, said, choices, strict=True)]
        for one, other in zip(together, alone, strict=True):
            assert one.ids.tolist() == other.ids.tolist()
            assert torch.allclose(one.logprobs, other.logprobs, atol=1e-4)


def test_no_more_positions_are_looked_at_together_than_are_bounded(policy, monkeypatch):
    rows, said = drawn(policy, FREE)
    whole, beside = policy.likely(rows, said, k=4), [torch.tensor([[0, 7]]).expand(len(row.token_ids), -1) for row in said]
    expected = policy.score(rows, said, support=beside).support
    seen, logits = [], policy._ready.network.logits
    monkeypatch.setattr(scoring, "_HEAD", 5)
    monkeypatch.setattr(policy._ready.network, "logits", lambda states: (seen.append(len(states)), logits(states))[1])
    parts = policy.likely(rows, said, k=4)
    assert max(seen) == 5
    assert [part.ids.tolist() for part in parts] == [part.ids.tolist() for part in whole]
    assert torch.allclose(policy.score(rows, said, support=beside).support, expected, atol=1e-5)


def test_one_reading_shares_the_prompts(policy, monkeypatch):
    rows, said = drawn(policy, FREE)
    said = policy.transcribe(rows, list(ACTIONS[:4]))
    network, fed = policy._ready.network, []
    hidden = network.hidden
    monkeypatch.setattr(network, "hidden", lambda ids, *rest, **more: (fed.append(tuple(ids.shape)), hidden(ids, *rest, **more))[1])
    policy.likely(rows, said, k=4)
    policy.score(rows, said, support=[torch.zeros(len(row.token_ids), 1, dtype=torch.int64) for row in said])
    assert fed == [(1, len(said[-1].prompt_ids) + len(said[-1].token_ids) - 1)] * 2


@pytest.mark.parametrize("memory", [None, MEMORY], ids=["bare", "memory"])
@pytest.mark.parametrize("sampling", [FREE, CHOOSE], ids=["free", "admissible"])
def test_support_at_the_drawn_token_is_its_logprob(hot, sampling, memory):
    rows, said = drawn(hot, sampling, memory=memory)
    asked = [torch.tensor(row.token_ids)[:, None] for row in said]
    result = hot.score(rows, said, [ACTIONS] * 4, support=asked)
    plain = hot.score(rows, said, [ACTIONS] * 4)
    assert torch.equal(result.support[..., 0][result.mask], result.logprobs[result.mask])
    assert torch.equal(result.logprobs, plain.logprobs)
    assert plain.support is None


@pytest.mark.parametrize("memory", [None, MEMORY], ids=["bare", "memory"])
@pytest.mark.parametrize("k", [3, None])
def test_scores_of_what_is_likely_are_what_was_told(hot, memory, k):
    rows, said = drawn(hot, CHOOSE, memory=memory)
    told = hot.likely(rows, said, [ACTIONS] * 4, k=k)
    found = hot.score(rows, said, [ACTIONS] * 4, support=[support.ids for support in told]).support
    for row, support in enumerate(told):
        assert torch.allclose(found[row, : len(support.ids), : support.ids.shape[1]], support.logprobs, atol=1e-5)
    assert found.shape[2] == max(support.ids.shape[1] for support in told)


def test_memory_changes_what_is_likely(hot):
    rows, said = drawn(hot, FREE)
    held = [Conditioning(messages=row.messages, memory=MEMORY) for row in rows]
    bare, read_in = (hot.likely(which, said, k=None)[0].logprobs for which in (rows, held))
    assert (bare - read_in).abs().max() > 1e-3


def test_any_id_may_be_asked_for_the_first_of_the_vocabulary_too(policy):
    rows, said = drawn(policy, FREE, turns=1)
    support = policy.score(rows, said, support=[torch.tensor([[7, 0, 7]] * len(said[0].token_ids))]).support[0]
    assert torch.allclose(support, by_transformers(said[0])[:, [7, 0, 7]], atol=1e-4)


def test_ids_that_could_not_be_drawn_have_no_probability(policy):
    rows, said = drawn(policy, CHOOSE)
    asked = [torch.tensor([[NO_ID, 3, int(token)] for token in row.token_ids]) for row in said]
    result = policy.score(rows, said, [ACTIONS] * 4, support=asked)
    assert result.support[..., :2].isneginf().all()
    assert result.support[result.mask][:, 2].isfinite().all()
    assert result.support[~result.mask].isneginf().all()


@pytest.mark.parametrize("k", [4, None])
def test_gradients_of_a_support_are_those_of_a_plain_softmax(hot, monkeypatch, k):
    rows, said = drawn(hot, FREE, turns=1)
    (wanted,), kept, logits = hot.likely(rows, said, k=k), [], hot._ready.network.logits
    monkeypatch.setattr(hot._ready.network, "logits", lambda states: (kept.append(logits(states)), kept[-1])[1])
    support = hot.score(rows, said, support=[wanted.ids]).support[0]
    (found,) = torch.autograd.grad(support.exp().square().sum(), kept)
    leaf = kept[0].detach().requires_grad_()
    probabilities = (leaf / FREE.temperature).softmax(-1).gather(1, wanted.ids)
    (expected,) = torch.autograd.grad(probabilities.square().sum(), leaf)
    assert torch.allclose(found, expected, atol=1e-6)
    assert expected.abs().max() > 1e-3


def test_gradients_stay_finite_where_a_loss_is_careless_with_minus_infinity(hot):
    rows, said = drawn(hot, CHOOSE)
    asked = [torch.tensor([[NO_ID, 3, int(token)] for token in row.token_ids]) for row in said]
    support = hot.score(rows, said, [ACTIONS] * 4, support=asked).support
    (support.exp() * support).nan_to_num(0.0).sum().backward()
    gradients = [value.grad for _, value in hot.parameters() if value.grad is not None]
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_likely_carries_no_gradient_and_leaves_dropout_as_it_was():
    policy = moved(ready_policy(lora=LoraConfig(rank=4, dropout=0.5)))
    rows, said = drawn(policy, FREE)
    calm = policy.likely(rows, said, k=3)
    with policy.training():
        told = policy.likely(rows, said, k=3)
        assert policy._ready.weights.model.training
    assert not told[0].logprobs.requires_grad
    assert torch.equal(told[0].logprobs, calm[0].logprobs)


def test_empty_completions_could_have_been_nothing(policy):
    rows, said = drawn(policy, FREE)
    said[1] = Completion(text="", prompt_ids=said[1].prompt_ids, finish="context")
    told = policy.likely(rows, said, k=3)
    assert told[1].ids.shape == (0, 0)
    assert policy.score(rows, said, support=[support.ids for support in told]).support.shape[2] == 3
    assert policy.likely([], [], k=3) == []


def test_orders_of_candidates_are_refused(policy):
    rows = shown(2)
    said = policy.generate(rows, ORDERED, [0, 1], [ACTIONS] * 2)
    with pytest.raises(ContractError, match="rkl=sampled"):
        policy.likely(rows, said, [ACTIONS] * 2, k=3)
    with pytest.raises(ContractError, match="rkl=sampled"):
        policy.score(rows, said, [ACTIONS] * 2, support=[torch.zeros(5, 1, dtype=torch.int64)] * 2)


def test_ids_for_another_number_of_tokens_are_refused(policy):
    rows, said = drawn(policy, FREE)
    with pytest.raises(ContractError, match="one row of ids for each token"):
        policy.score(rows, said, support=[torch.zeros(1, 1, dtype=torch.int64)] * 4)
    with pytest.raises(ContractError, match="k=0"):
        policy.likely(rows, said, k=0)


def test_a_policy_without_distributions_says_what_would_do():
    with pytest.raises(ContractError, match=r"policy\.distribution.*core\.hf.*rkl=sampled"):
        DialPolicy().likely([], [], k=3)


# trajectories


def item(rows, said, choices=None):
    return Drawn(
        trajectory=None,
        conditionings=tuple(rows),
        completions=tuple(said),
        choices=tuple(choices or [None] * len(said)),
        tokens=sum(len(row.token_ids) for row in said),
        positions=sum(len(row.prompt_ids + row.token_ids) for row in said),
        advantages=(0.0,) * len(said),
    )


def test_what_is_likely_of_trajectories_is_told_in_the_order_of_their_tokens(policy):
    rows, said = drawn(policy, FREE)
    items = [item(rows[:1], said[:1]), item(rows[1:], said[1:])]
    told = likely(policy, items, 3, micro_tokens=positions(items[:1]))
    assert len(passes(items, positions(items[:1]))) == 2
    expected = policy.likely(rows, said, k=3)
    assert told[0].ids.tolist() == expected[0].ids.tolist()
    assert told[1].ids.tolist() == [ids for support in expected[1:] for ids in support.ids.tolist()]
    scores = read(policy, items, [support.ids for support in told])
    assert torch.allclose(scores.support, torch.cat([support.logprobs for support in told]), atol=1e-5)
    assert scores.logprobs.shape == (sum(one.tokens for one in items),)


def test_supports_of_unlike_width_are_padded_at_their_end(policy):
    rows, said = drawn(policy, CHOOSE)
    said[0] = policy.generate(rows[:1], FREE, [0])[0]
    (told,) = likely(policy, [item(rows, said, [None, *[ACTIONS] * 3])], 5, micro_tokens=4096)
    count = len(said[0].token_ids)
    assert told.ids.shape[1] == 5
    assert (told.ids[:count] != NO_ID).all()
    assert ((told.ids == NO_ID) == told.logprobs.isneginf()).all()
    assert (told.ids[count:, -1] == NO_ID).all()


def test_the_whole_vocabulary_of_a_trajectory_holds_its_ids_once(policy):
    rows, said = drawn(policy, FREE)
    (told,) = likely(policy, [item(rows, said)], None, micro_tokens=4096)
    assert told.logprobs.shape == told.ids.shape == (sum(len(row.token_ids) for row in said), len(tiny_tokenizer()))
    assert told.ids.untyped_storage().nbytes() == 8 * len(tiny_tokenizer())


@pytest.mark.parametrize("k", [5, None])
def test_a_student_is_pulled_towards_what_its_teacher_knows(hot, k):
    rows, said = drawn(hot, CHOOSE)
    held = [Conditioning(messages=row.messages, memory=MEMORY) for row in rows]
    students, teachers = ([item(which, said, [ACTIONS] * 4)] for which in (rows, held))
    (taught,) = likely(hot, teachers, k, micro_tokens=4096)
    gap = []
    for _ in range(12):
        scores = read(hot, students, [taught.ids])
        loss = reverse_kl(scores.support, taught.logprobs, renormalise=k is not None).sum()
        gap.append(float(loss.detach()))
        loss.backward()
        for name, value in hot.parameters():
            assert value.grad is None or value.grad.isfinite().all(), name
            value.data -= 0.002 * value.grad / value.grad.norm() if value.grad is not None and value.grad.any() else 0.0
            value.grad = None
    assert gap[-1] < 0.8 * gap[0]
    assert min(gap) >= 0.0
    assert isinstance(taught, Support)


def test_ids_of_different_rows_may_lie_on_different_devices():
    targets = [scoring.Target(row=row, prompt=np.array([1]), completion=np.array([2, 3])) for row in range(2)]
    asked = [torch.tensor([[5], [6]]), torch.full((2, 3), 7, device="meta")]  # a device that every machine has
    ids = asked_at([(targets[0], 1), (targets[1], 0)], asked, 3, torch.device("meta"))
    assert (ids.shape, ids.device.type) == ((2, 3), "meta")
