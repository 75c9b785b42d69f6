import pytest

pytest.importorskip("torch")

import torch

from xplearn.errors import ConfigError, RecordError
from xplearn.policies.adapter import MemoryBatch
from xplearn.testing.fakes import GatedRead, ready_policy
from xplearn.types import Conditioning, Memory, Sampling

SITES = pytest.mark.parametrize("site", ["norm", "layers.0", "layers.1"])
SAID = ["go to hall", "take the cup", "wait"]
WIDTH = 32


def memory(seed, rows=3):
    return Memory(states=torch.randn(rows, WIDTH, generator=torch.Generator().manual_seed(seed)), ids=tuple(str(i) for i in range(rows)))


def shown(held, steps=3, episode=0):
    messages, rows = [], []
    for step in range(steps):
        messages = [*messages, {"role": "user", "content": f"Room {episode}: you see {step} cups."}]
        rows.append(Conditioning(messages=tuple(messages), memory=held))
        messages = [*messages, {"role": "assistant", "content": SAID[step]}]
    return rows


def policy_with(site, gate=2.0):
    policy = ready_policy()
    with torch.random.fork_rng():
        torch.manual_seed(3)
        policy.attach(GatedRead(WIDTH, site=site, gate=gate))
    return policy


def scores(policy, rows, said):
    with torch.no_grad():
        result = policy.score(rows, said)
    return [row[mask] for row, mask in zip(result.logprobs, result.mask, strict=True)]


@SITES
def test_memory_changes_what_is_scored(site):
    policy = policy_with(site)
    said = policy.transcribe(shown(None), SAID)
    bare, held, other = (scores(policy, shown(which), said) for which in (None, memory(1), memory(2)))
    for one, two, three in zip(bare, held, other, strict=True):
        assert (one - two).abs().max() > 1e-3
        assert (two - three).abs().max() > 1e-3


@SITES
def test_rows_with_empty_memory_are_bit_identical(site):
    policy, bare = policy_with(site), ready_policy()
    said = bare.transcribe(shown(None), SAID)
    empty = Memory(states=torch.zeros(0, WIDTH), ids=())
    for held in (None, empty):
        mixed = scores(policy, [*shown(held), *shown(memory(1), episode=1)], [*said, *policy.transcribe(shown(None, episode=1), SAID)])
        alone = scores(bare, [*shown(None), *shown(None, episode=1)], [*said, *policy.transcribe(shown(None, episode=1), SAID)])
        assert all(torch.equal(one, two) for one, two in zip(mixed[:3], alone[:3], strict=True))


@SITES
def test_packed_rows_keep_their_own_memory(site):
    policy = policy_with(site)
    rows = [row for held in (memory(1), None, memory(2)) for row in shown(held)]
    said = policy.transcribe(rows, SAID * 3)
    together = scores(policy, rows, said)
    for row, completion, values in zip(rows, said, together, strict=True):
        assert torch.allclose(values, scores(policy, [row], [completion])[0], atol=1e-4)


def test_at_the_norm_rows_of_any_memory_share_one_sequence(monkeypatch):
    policy = policy_with("norm")
    rows = [row for held in (memory(1), None, memory(2)) for row in shown(held)]
    read, network = [], policy._ready.network
    hidden = network.hidden
    monkeypatch.setattr(network, "hidden", lambda ids, *rest, **more: (read.append(tuple(ids.shape)), hidden(ids, *rest, **more))[1])
    policy.score(rows, policy.transcribe(rows, SAID * 3))
    assert [count for count, _ in read] == [1]


@SITES
@pytest.mark.parametrize(
    "sampling", [Sampling(max_new_tokens=6, temperature=1.0, stop=()), Sampling(temperature=1.0, choices="admissible")]
)
def test_acting_and_scoring_read_memory_alike(site, sampling):
    policy, choices = policy_with(site), [("go to hall", "wait", "take the cup")] * 3
    for held in (memory(1), memory(2), None):
        for row in shown(held):
            rows = [row, Conditioning(messages=row.messages), Conditioning(messages=row.messages, memory=memory(5, rows=1))]
            said = policy.generate(rows, sampling, [1, 2, 3], choices)
            result = policy.score(rows, said, choices)
            for index, completion in enumerate(said):
                assert result.logprobs[index][result.mask[index]].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


@SITES
def test_reference_does_not_read_memory(site):
    policy, bare = policy_with(site), ready_policy()
    said = policy.transcribe(shown(None), SAID)
    with policy.reference():
        silent = scores(policy, shown(memory(1)), said)
    assert all(torch.equal(one, two) for one, two in zip(silent, scores(bare, shown(None), said), strict=True))


@SITES
def test_gradients_reach_the_adapter(site):
    policy = policy_with(site)
    rows = shown(memory(1))
    policy.score(rows, policy.transcribe(rows, SAID)).logprobs.sum().backward()
    grads = {name: value.grad for name, value in policy.parameters() if name.startswith("sites.")}
    assert set(grads) == {f"sites.0.{site}.gate", f"sites.0.{site}.query.weight"}
    assert all(grad is not None and grad.abs().max() > 0 for grad in grads.values())


def test_adapter_is_saved_with_the_policy(tmp_path):
    policy = policy_with("norm")
    policy.save(tmp_path / "saved")
    other = ready_policy()
    other.attach(GatedRead(WIDTH, gate=0.5))
    other.load(tmp_path / "saved")
    said = policy.transcribe(shown(None), SAID)
    for one, two in zip(scores(policy, shown(memory(1)), said), scores(other, shown(memory(1)), said), strict=True):
        assert torch.equal(one, two)
    with pytest.raises(RecordError, match="another configuration"):
        ready_policy().load(tmp_path / "saved")


@pytest.mark.parametrize("site", ["layers.2", "layers.x", "embedding"])
def test_unknown_site_names_the_known_ones(site):
    with pytest.raises(ConfigError, match=r"sites are norm and layers.0 … layers.1"):
        ready_policy().attach(GatedRead(WIDTH, site=site))


def test_batch_of_memories_is_padded():
    batch = MemoryBatch.of([None, memory(1, rows=2), memory(2, rows=3)], torch.device("cpu"))
    assert batch.rows.tolist() == [1, 2]
    assert batch.mask.tolist() == [[True, True, False], [True, True, True]]
    assert torch.equal(batch.states[1], memory(2, rows=3).states)
    assert MemoryBatch.of([None, None], torch.device("cpu")) is None
