import itertools
import math

import pytest

pytest.importorskip("torch")

import torch

from xplearn.errors import ConfigError, ContractError
from xplearn.learning.batching import sample
from xplearn.policies.adapter import MemoryBatch
from xplearn.policies.ranking import RankingConfig, order, plackett_luce
from xplearn.testing.fakes import ready_policy
from xplearn.types import Conditioning, Memory, Query, Sampling, Selection, Step, Task, Trajectory

from .test_retrieving import BANK, IDS, Nearest

CANDIDATES = ("look around", "go to hall", "take cup", "wait", "open door")
RANK = Sampling(temperature=1.0, choices="rank", max_new_tokens=6)
BOTH = pytest.mark.parametrize("by", ["state", "likelihood"])


def shown(row=0, memory=None):
    return Conditioning(messages=({"role": "user", "content": f"You see {row} cups."},), memory=memory)


def policy_by(by, **settings):
    return ready_policy(ranking=RankingConfig(by=by, **settings))


def test_probabilities_of_all_orders_add_up_to_one():
    scores = torch.tensor([0.3, -1.2, 2.0, 0.0])
    total = sum(plackett_luce(scores, places).sum().exp() for places in itertools.permutations(range(4)))
    assert float(total) == pytest.approx(1.0, abs=1e-5)


def test_plackett_luce_by_hand():
    scores = torch.tensor([1.0, 2.0, 3.0])
    first, second, last = plackett_luce(scores, [2, 0, 1]).tolist()
    assert first == pytest.approx(3 - math.log(math.exp(1) + math.exp(2) + math.exp(3)), abs=1e-6)
    assert second == pytest.approx(1 - math.log(math.exp(1) + math.exp(2)), abs=1e-6)
    assert last == 0.0


def test_orders_are_drawn_as_often_as_plackett_luce_says():
    scores, drawn = [0.0, 1.0, -0.5], {}
    for key in range(4000):
        places = tuple(order(scores, key=key, greedy=False))
        drawn[places] = drawn.get(places, 0) + 1
    for places in itertools.permutations(range(3)):
        expected = float(plackett_luce(torch.tensor(scores), places).sum().exp())
        assert drawn.get(places, 0) / 4000 == pytest.approx(expected, abs=4 * math.sqrt(expected / 4000))


def test_greedy_sorts_and_ties_go_to_the_earlier():
    assert order([1.0, 3.0, 3.0, 2.0], key=0, greedy=True) == [1, 2, 3, 0]


@BOTH
def test_an_order_is_text_by_line_and_positions_by_token(by):
    (said,) = policy_by(by).generate([shown()], RANK, [3], [CANDIDATES])
    assert said.text.split("\n") == [CANDIDATES[place] for place in said.token_ids]
    assert sorted(said.token_ids) == list(range(5))
    assert len(said.logprobs) == 5
    assert said.sampling == RANK


@BOTH
@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_drawn_and_scored_logprobs_agree(by, temperature):
    policy = policy_by(by)
    policy.attach(Nearest())
    held = Memory(states=BANK, ids=IDS, barred=(3,))
    rows, offered = [shown(0, held), shown(1), shown(2, held)], [CANDIDATES, CANDIDATES[:2], CANDIDATES]
    said = policy.generate(rows, Sampling(temperature=temperature, choices="rank"), [0, 1, 2], offered)
    scores = policy.score(rows, said, offered)
    for row, completion in enumerate(said):
        assert scores.logprobs[row, : len(completion.token_ids)].tolist() == pytest.approx(completion.logprobs, abs=1e-4)
        assert scores.mask[row].sum() == len(offered[row])
    assert said[1].retrieved is None
    assert len(said[0].retrieved) == (1 if by == "state" else sum(len(policy._ready.chat.reply(text)) for text in CANDIDATES))


@BOTH
def test_neighbours_change_nothing(by):
    policy = policy_by(by)
    rows = [shown(row) for row in range(5)]
    together = policy.generate(rows, RANK, list(range(5)), [CANDIDATES] * 5)
    alone = [policy.generate([row], RANK, [key], [CANDIDATES])[0] for key, row in enumerate(rows)]
    for one, two in zip(together, alone, strict=True):
        assert one.token_ids == two.token_ids
        assert one.logprobs == pytest.approx(two.logprobs, abs=1e-4)


def test_state_scores_are_cosines_of_last_states():
    policy = policy_by("state")
    (scores,) = policy.rank([shown()], [CANDIDATES])
    states = torch.nn.functional.normalize(policy.encode(CANDIDATES), dim=-1)
    prompt = policy._ready.chat.prompt(shown().messages)
    asked = policy._ready.network.hidden(torch.tensor([prompt]), torch.arange(len(prompt))[None])[0, -1]
    assert list(scores) == pytest.approx((states @ torch.nn.functional.normalize(asked, dim=-1)).tolist(), abs=1e-5)


def test_memory_enters_the_prompts_state_and_no_candidates():
    bare, policy = policy_by("state"), policy_by("state")
    policy.attach(Nearest())
    held = Memory(states=BANK, ids=IDS)
    (plain,), (read,) = bare.rank([shown()], [CANDIDATES]), policy.rank([shown(0, held)], [CANDIDATES])
    assert list(plain) != pytest.approx(list(read), abs=1e-4)
    with torch.no_grad():
        prompt = policy._ready.chat.prompt(shown().messages)
        asked = policy._ready.network.hidden(torch.tensor([prompt]), torch.arange(len(prompt))[None])[:, -1:]
        asked = policy._ready.network.sites.at_norm(asked, MemoryBatch.of([held], asked.device))[0, 0]
        states = torch.nn.functional.normalize(policy.encode(CANDIDATES), dim=-1)
    assert list(read) == pytest.approx((states @ torch.nn.functional.normalize(asked, dim=-1)).tolist(), abs=1e-5)


@BOTH
def test_gradients_reach_every_trainable_parameter(by):
    policy = policy_by(by)
    policy.attach(Nearest())
    rows, offered = [shown(0, Memory(states=BANK, ids=IDS))], [CANDIDATES]
    said = policy.generate(rows, RANK, [0], offered)
    policy.score(rows, said, offered).logprobs.sum().backward()
    assert all(value.grad is not None for _, value in policy.parameters())


def test_rows_without_candidates_say_any_text():
    free, ranked = policy_by("state").generate([shown(), shown()], RANK, [0, 0], [None, CANDIDATES])
    assert free.sampling.choices == "free"
    assert ranked.sampling.choices == "rank"
    assert free == policy_by("state").generate([shown()], Sampling(temperature=1.0, max_new_tokens=6), [0])[0]


def test_a_nucleus_is_for_tokens_and_bars_orders_alone():
    (said,) = policy_by("state").generate([shown()], Sampling(temperature=1.0, top_p=0.9, max_new_tokens=6), [0])
    assert len(said.token_ids) == len(said.logprobs) > 0


def test_an_order_without_its_candidates_is_not_scored():
    policy = policy_by("state")
    said = policy.generate([shown()], RANK, [0], [CANDIDATES])
    with pytest.raises(ContractError, match="pass them as choices"):
        policy.score([shown()], said)


@BOTH
def test_a_conversation_past_the_context_comes_back_empty(by):
    policy = ready_policy(ranking=RankingConfig(by=by), context_tokens=60)
    long = Conditioning(messages=({"role": "user", "content": "You see cups. " * 40},))
    first, second = policy.generate([long, shown()], RANK, [0, 1], [CANDIDATES, CANDIDATES])
    assert (first.text, first.token_ids, first.finish) == ("", (), "context")
    assert len(second.token_ids) == 5
    assert policy.score([long, shown()], [first, second], [CANDIDATES] * 2).mask.sum(1).tolist() == [0, 5]


def test_top_p_and_empty_candidates_are_refused():
    policy = policy_by("state")
    with pytest.raises(ContractError, match="top_p"):
        policy.generate([shown()], Sampling(choices="rank", top_p=0.9), [0], [CANDIDATES])
    with pytest.raises(ContractError, match="is empty"):
        policy.generate([shown()], RANK, [0], [("look", "")])
    with pytest.raises(ConfigError, match=r"ranking\.temperature"):
        RankingConfig(temperature=0.0)


def test_an_order_is_not_cloned():
    policy = policy_by("state")
    (said,) = policy.generate([shown()], RANK, [0], [CANDIDATES])
    task = Task(id="t", env="e", split="train", goal="g")
    query = Query(purpose="act", task=task, messages=shown().messages, candidates=CANDIDATES)
    how = {"reward": 1.0, "terminated": True, "truncated": False, "valid": True}
    step = Step(query=query, selection=Selection(), conditioning=shown(), completion=said, action=said.text, **how)
    trajectory = Trajectory(id="t", task=task, steps=(step,), arm="plain", group="g", seed=0, source="rollout")
    with pytest.raises(ContractError, match="ranks candidates"):
        sample(trajectory, learner="core.clone")
