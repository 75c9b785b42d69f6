"""The same digits in any company: in a batch or alone, read at once or in parts, beside short or long conversations."""

import dataclasses

import pytest

torch = pytest.importorskip("torch")

from torch.nn.functional import linear, scaled_dot_product_attention  # noqa: E402

import xplearn  # noqa: E402
from xplearn.policies import steady  # noqa: E402
from xplearn.policies.weights import LoraConfig  # noqa: E402
from xplearn.testing.agents import FakeAgent  # noqa: E402
from xplearn.testing.fakes import FakePolicy  # noqa: E402
from xplearn.types import Conditioning, Sampling  # noqa: E402

FREE = Sampling(max_new_tokens=6, temperature=1.0, stop=())
GREEDY = Sampling(max_new_tokens=6, temperature=0.0, stop=())
CHOOSE = Sampling(temperature=1.0, choices="admissible")
ACTIONS = ("go to hall", "go to hall slowly", "open door to hall", "take the cup", "take the cup from the table", "wait")
COUNT = 7


class ShortPolicy(FakePolicy):
    """The same in bfloat16, as frozen weights are where the processor multiplies in it."""

    def _load(self):
        model, tokenizer = super()._load()
        return model.bfloat16(), tokenizer


@pytest.fixture(params=[FakePolicy, ShortPolicy], ids=["fp32", "bf16"])
def made(request):
    """Makes policies, where the library keeps a row's sums apart from the number of rows. Those we met do, in float32 with one thread."""
    if request.param is FakePolicy:
        torch.set_num_threads(1)
    dtype = torch.bfloat16 if request.param is ShortPolicy else torch.float32
    for width in (32, 64, 128):
        rows, weights = torch.randn(256, width).to(dtype), torch.randn(3 * width, width).to(dtype)
        whole = linear(rows, weights)
        if not all(torch.equal(linear(rows[:count], weights), whole[:count]) for count in (4, 5, 7, 8, 21, 33, 64, 100)):
            pytest.skip("this processor's library rounds a row of a product by the number of rows")

    def make(**settings):
        policy = request.param(lora=LoraConfig(rank=4), **settings)
        policy.setup(FakeAgent())
        return policy

    return make


def talk(turns, episode):
    messages = [{"role": "system", "content": "You act in a house."}]
    for turn in range(turns):
        seen = f"Room {episode}: you see {turn} cups" + " and a table" * (episode % 4) + "."
        messages += [{"role": "user", "content": seen}, {"role": "assistant", "content": "go to hall"}]
    return Conditioning(messages=tuple(messages[:-1]))


def said(policy, episodes, sampling, *, width, turns=(1, 3, 4)):
    """Tokens and log-probabilities by episode and turn, so many episodes at once."""
    found = {}
    for part in batched(episodes, width):
        for turn in turns:
            shown = [talk(turn * (1 + episode % 3), episode) for episode in part]
            keys = [100 * turn + episode for episode in part]
            for episode, one in zip(part, policy.generate(shown, sampling, keys, [ACTIONS] * len(part)), strict=True):
                found[episode, turn] = one.token_ids, one.logprobs
    return found


def batched(items, width):
    return [items[start : start + width] for start in range(0, len(items), width)]


@pytest.mark.parametrize("sampling", [GREEDY, FREE, CHOOSE], ids=["greedy", "free", "admissible"])
def test_a_conversation_goes_on_alike_in_any_company(made, sampling):
    episodes = list(range(COUNT))
    alone = said(made(), episodes, sampling, width=1)
    assert len({tokens for tokens, _ in alone.values()}) > 3
    for width in (2, 3, COUNT):
        assert said(made(), episodes, sampling, width=width) == alone, f"{width} at once"
    assert said(made(), episodes[::-1], sampling, width=3) == alone, "in another order"
    assert said(made(cache_tokens=700), episodes, sampling, width=COUNT) == alone, "in a cache too small for all"


def test_a_conversation_that_is_read_anew_goes_on_as_if_it_had_been_kept(made):
    episodes = list(range(COUNT))
    kept = said(made(), episodes, FREE, width=COUNT)
    for turn in (3, 4):
        anew = said(made(), episodes, FREE, width=2, turns=[turn])
        assert anew == {key: value for key, value in kept.items() if key[1] == turn}


def played(folder, batch):
    """What a small run with training comes to, times aside, and its last weights."""
    mix = {
        "stream": [{"env": {"name": "core.counting", "length": 3, "size": 4}}],
        "policy": {"name": "core.tiny", "layers": 1, "width": 64, "heads": 2, "vocabulary": 300, "context_tokens": 512, "threads": 1},
        "record": "core.record",
        "selector": {"name": "core.nearest", "k": 1},
        "conditioner": "core.prompt",
        "sampling": {"choices": "admissible"},
        "learner": {"name": "core.grpo", "group_size": 4, "lr": 3e-3},
        "evaluate": {"tasks": {"limit": 4, "split": "test"}, "arms": ["plain"], "resamples": 100},
        "run": {"dir": str(folder), "batch": batch},
    }
    run = xplearn.load(xplearn.run(mix).folder)
    assert run.header.computing["dtype"] == "float32"
    assert run.header.computing["threads"] == 1
    last = max((run.path / "checkpoints").glob("[0-9]*"))
    lived = [dataclasses.replace(found, seconds=0.0) for phase in run.phases() for found in run.trajectories(phase)]
    return sorted(lived, key=lambda found: found.id), (last / "policy" / "weights" / "model.safetensors").read_bytes()


@pytest.mark.parametrize("made", [FakePolicy], ids=["fp32"], indirect=True)
def test_a_whole_run_with_training_ends_with_the_same_bytes_whatever_the_width_of_its_batch(made, tmp_path):
    lived, weights = played(tmp_path / "wide", 64)
    assert played(tmp_path / "narrow", 3) == (lived, weights)


def heads(batch, tokens, length, *, groups=2, per_group=3, width=16):
    draw = torch.Generator().manual_seed(0)
    query = torch.randn(batch, groups * per_group, tokens, width, generator=draw)
    key, value = (torch.randn(batch, groups, length, width, generator=draw) for _ in range(2))
    place = torch.arange(length - tokens, length)[:, None]
    bias = torch.zeros(batch, 1, tokens, length).masked_fill(torch.arange(length) > place, float("-inf"))
    return query, key, value, bias


@pytest.mark.parametrize("per_group", [1, 3])
@pytest.mark.parametrize(("tokens", "length"), [(1, 16), (1, 400), (2, 272), (90, 320)])
def test_attention_is_that_of_torch(tokens, length, per_group):
    query, key, value, bias = heads(3, tokens, length, per_group=per_group)
    expected = scaled_dot_product_attention(query, key, value, attn_mask=bias, enable_gqa=True)
    torch.testing.assert_close(steady.attend(query, key, value, bias, 0.25), expected, atol=1e-5, rtol=1e-5)


def test_attention_in_blocks_is_attention_at_once(monkeypatch):
    query, key, value, bias = heads(3, 90, 320)
    blocks = steady.attend(query, key, value, bias, 0.25)
    monkeypatch.setattr(steady, "_TOKENS", 1000)
    monkeypatch.setattr(steady, "_BLOCK", 1 << 30)
    torch.testing.assert_close(blocks, steady.attend(query, key, value, bias, 0.25), atol=1e-6, rtol=1e-6)


def test_few_rows_are_padded_and_many_are_not():
    assert steady.padded(torch.ones(2, 8)).sum(-1).tolist() == [8, 8, 0, 0]
    assert steady.padded(torch.ones(5, 8)).shape == (5, 8)
