"""Scoring, training, saving."""

import json
import math

import pytest

pytest.importorskip("torch")

import torch

from xplearn.errors import ContractError, RecordError
from xplearn.policies.weights import LoraConfig
from xplearn.testing.fakes import ready_policy, tiny_model
from xplearn.types import Completion, Conditioning, Sampling

ACTIONS = ("go to hall", "open door to hall", "take the cup", "take the cup from the table", "wait")
SAID = ["go to hall", "take the cup", "open door to hall", "wait", "put the cup in the fridge"]
FULL = pytest.mark.parametrize("lora", [LoraConfig(rank=4), None], ids=["lora", "all-weights"])


def trajectory(policy, episode=0, steps=5):
    messages, shown = [{"role": "system", "content": "You act."}], []
    for step in range(steps):
        messages = [*messages, {"role": "user", "content": f"Room {episode}: you see {step} cups and a door."}]
        shown.append(Conditioning(messages=tuple(messages)))
        messages = [*messages, {"role": "assistant", "content": SAID[step]}]
    return shown, policy.transcribe(shown, SAID[:steps])


def train(policy, steps=3, lr=0.05):
    shown, said = trajectory(policy)
    losses = []
    with policy.training():
        optimizer = torch.optim.SGD([value for _, value in policy.parameters()], lr=lr)
        for _ in range(steps):
            loss = -policy.score(shown, said).logprobs.sum() / 30
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(float(loss.detach()))
    return losses


def scores(policy, shown, said, choices=None):
    with torch.no_grad():
        return policy.score(shown, said, choices).logprobs


def shaken(policy):
    """LoRA starts as the identity; give it an effect."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for _, value in policy.parameters():
            value.add_(torch.randn(value.shape, generator=generator) * 0.05)
    policy._ready.cache.clear()
    return policy


@pytest.fixture
def policy():
    return shaken(ready_policy())


def test_scores_are_those_of_the_plain_forward_pass():
    policy = ready_policy()
    shown, said = trajectory(policy)
    packed = policy.score(shown, said)
    for row, completion in enumerate(said):
        with torch.no_grad():
            logits = tiny_model()(torch.tensor([completion.prompt_ids + completion.token_ids])).logits[
                0, len(completion.prompt_ids) - 1 : -1
            ]
        expected = logits.log_softmax(-1).gather(1, torch.tensor(completion.token_ids)[:, None])[:, 0]
        assert torch.allclose(packed.logprobs[row][packed.mask[row]], expected, atol=1e-4)
    assert packed.mask.sum(1).tolist() == [len(completion.token_ids) for completion in said]
    assert not packed.logprobs[~packed.mask].any()


def test_a_trajectory_is_read_once(policy, monkeypatch):
    read, network = [], policy._ready.network
    hidden = network.hidden
    monkeypatch.setattr(network, "hidden", lambda ids, *rest, **more: (read.append(tuple(ids.shape)), hidden(ids, *rest, **more))[1])
    shown, said = trajectory(policy)
    policy.score(shown, said)
    assert read == [(1, len(said[-1].prompt_ids) + len(said[-1].token_ids) - 1)]


def test_packed_gradients_are_those_of_one_row_a_step(policy):
    shown, said = trajectory(policy)
    grads = []
    for group in ([slice(0, 5)], [slice(i, i + 1) for i in range(5)]):
        for part in group:
            policy.score(shown[part], said[part]).logprobs.sum().backward()
        grads.append({name: value.grad.clone() for name, value in policy.parameters()})
        for _, value in policy.parameters():
            value.grad = None
    assert grads[0]
    for name, grad in grads[0].items():
        assert grad.abs().max() > 0
        assert torch.allclose(grad, grads[1][name], atol=1e-4, rtol=1e-4), name


def test_branching_completions_score_as_they_would_alone(policy):
    shown, _ = trajectory(policy)
    rows = [(conditioning, text) for conditioning in shown for text in ACTIONS]
    said = policy.transcribe([row[0] for row in rows], [row[1] for row in rows])
    together = scores(policy, [row[0] for row in rows], said)
    for index, (conditioning, _) in enumerate(rows):
        alone = scores(policy, [conditioning], [said[index]])[0]
        assert torch.allclose(together[index, : len(alone)], alone, atol=1e-4)


def test_microbatches_change_nothing(policy):
    rows = [trajectory(policy, episode) for episode in range(3)]
    shown, said = [c for row in rows for c in row[0]], [c for row in rows for c in row[1]]
    whole = scores(policy, shown, said)
    policy.score_tokens = 40
    assert torch.allclose(scores(policy, shown, said), whole, atol=1e-4)


@pytest.mark.parametrize(
    "sampling", [Sampling(temperature=0.7, max_new_tokens=8, stop=()), Sampling(temperature=0.7, choices="admissible")]
)
def test_scores_of_own_completions_are_their_logprobs(policy, sampling):
    shown, _ = trajectory(policy)
    choices = [ACTIONS] * len(shown)
    said = policy.generate(shown, sampling, list(range(5)), choices)
    result = policy.score(shown, said, choices)
    for row, completion in enumerate(said):
        assert result.logprobs[row][result.mask[row]].tolist() == pytest.approx(completion.logprobs, abs=1e-4)


def test_without_choices_scores_are_under_the_plain_softmax(policy):
    shown, _ = trajectory(policy)
    said = policy.generate(shown, Sampling(temperature=1.0, choices="admissible"), list(range(5)), [ACTIONS] * 5)
    assert (scores(policy, shown, said).sum(1) < scores(policy, shown, said, [ACTIONS] * 5).sum(1)).all()


def test_completion_outside_its_choices_is_refused(policy):
    shown, _ = trajectory(policy)
    said = policy.generate(shown[:1], Sampling(choices="admissible"), [0], [ACTIONS])
    with pytest.raises(ContractError, match="none of its 1 admissible actions"):
        policy.score(shown[:1], said, [("look",)])


def test_completion_without_prompt_is_refused(policy):
    with pytest.raises(ContractError, match="transcribe"):
        policy.score([trajectory(policy)[0][0]], [Completion(text="wait", token_ids=(5,))])


def test_empty_completions_score_nothing(policy):
    shown, said = trajectory(policy)
    result = policy.score(shown[:2], [Completion(text="", prompt_ids=said[0].prompt_ids, finish="context"), said[1]])
    assert result.mask.sum(1).tolist() == [0, len(said[1].token_ids)]
    assert policy.score([], []).logprobs.shape == (0, 0)


@FULL
def test_training_lowers_the_loss_and_raises_the_version(lora):
    policy = ready_policy(lora=lora)
    losses = train(policy)
    assert losses[-1] < losses[0]
    assert policy.version == 1


@FULL
def test_training_changes_what_is_said_despite_the_cache(lora):
    policy = ready_policy(lora=lora)
    shown, _ = trajectory(policy)
    sampling = Sampling(max_new_tokens=8, stop=())
    policy.generate(shown, sampling, [0] * 5)
    train(policy)
    after = policy.generate(shown, sampling, [0] * 5)
    policy._ready.cache.clear()
    fresh = policy.generate(shown, sampling, [0] * 5)
    assert [completion.token_ids for completion in after] == [completion.token_ids for completion in fresh]
    assert {completion.policy_version for completion in after} == {1}


@FULL
def test_reference_is_the_policy_before_training(lora):
    policy = ready_policy(lora=lora)
    shown, said = trajectory(policy)
    sampling = Sampling(max_new_tokens=8, stop=())
    before, spoken = scores(policy, shown, said), policy.generate(shown, sampling, [0] * 5)
    train(policy)
    trained = scores(policy, shown, said)
    policy.generate(shown, sampling, [0] * 5)
    with policy.reference(), policy.reference():
        assert torch.allclose(scores(policy, shown, said), before, atol=1e-5)
        assert [c.token_ids for c in policy.generate(shown, sampling, [0] * 5)] == [c.token_ids for c in spoken]
    assert torch.equal(scores(policy, shown, said), trained)
    assert not torch.allclose(trained, before, atol=1e-2)


@FULL
def test_reference_inside_training_leaves_gradients_alone(lora):
    policy = ready_policy(lora=lora)
    shown, said = trajectory(policy)
    with policy.training():
        loss = -policy.score(shown, said).logprobs.sum()
        with policy.reference(), torch.no_grad():
            policy.score(shown, said)
        loss.backward()
        assert all(value.grad is not None for _, value in policy.parameters())
        assert all(value.requires_grad for _, value in policy.parameters())


def test_dropout_is_on_in_training_and_off_in_acting():
    policy = shaken(ready_policy(lora=LoraConfig(rank=4, dropout=0.5)))
    shown, said = trajectory(policy)
    sampling = Sampling(max_new_tokens=6, stop=())
    acted = policy.generate(shown, sampling, [0] * 5)
    assert torch.equal(scores(policy, shown, said), scores(policy, shown, said))
    with policy.training():
        assert not torch.equal(scores(policy, shown, said), scores(policy, shown, said))
        assert [c.token_ids for c in policy.generate(shown, sampling, [0] * 5)] == [c.token_ids for c in acted]
        assert not torch.equal(scores(policy, shown, said), scores(policy, shown, said))
    assert torch.equal(scores(policy, shown, said), scores(policy, shown, said))


def test_nothing_is_cached_while_weights_are_moving():
    policy = ready_policy()
    shown, _ = trajectory(policy)
    sampling = Sampling(max_new_tokens=6, stop=())
    with policy.training():
        policy.generate(shown, sampling, [0] * 5)
        shaken(policy)
        moved = policy.generate(shown, sampling, [0] * 5)
    assert [c.token_ids for c in policy.generate(shown, sampling, [0] * 5)] == [c.token_ids for c in moved]


def test_version_is_raised_also_after_a_failure(policy):
    with pytest.raises(RuntimeError, match="boom"), policy.training():
        raise RuntimeError("boom")
    assert policy.version == 1


@FULL
def test_saved_policy_comes_back(tmp_path, lora):
    policy = ready_policy(lora=lora)
    train(policy)
    shown, said = trajectory(policy)
    policy.save(tmp_path / "saved")
    other = ready_policy(lora=lora)
    other.load(tmp_path / "saved")
    assert other.version == 1
    assert torch.equal(scores(other, shown, said), scores(policy, shown, said))
    with other.reference():
        assert torch.allclose(scores(other, shown, said), scores(ready_policy(lora=lora), shown, said), atol=1e-5)


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
def test_saved_adapter_is_read_by_peft(tmp_path, policy):
    from peft import PeftModel

    policy.save(tmp_path / "saved")
    assert {path.name for path in (tmp_path / "saved").iterdir()} == {"adapter_config.json", "adapter_model.safetensors", "policy.json"}
    shown, said = trajectory(policy)
    peft = PeftModel.from_pretrained(tiny_model(), str(tmp_path / "saved"))
    with torch.no_grad():
        logits = peft(torch.tensor([said[0].prompt_ids + said[0].token_ids])).logits[0, len(said[0].prompt_ids) - 1 : -1]
    expected = logits.log_softmax(-1).gather(1, torch.tensor(said[0].token_ids)[:, None])[:, 0]
    assert torch.allclose(scores(policy, shown[:1], said[:1])[0], expected, atol=1e-4)


def test_saving_again_replaces_the_folder_as_a_whole(tmp_path, policy):
    policy.save(tmp_path / "saved")
    (tmp_path / "saved" / "stray").write_text("")
    policy.version = 7
    policy.save(tmp_path / "saved")
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    assert not (tmp_path / "saved" / "stray").exists()
    other = ready_policy()
    other.load(tmp_path / "saved")
    assert other.version == 7


def test_save_that_fails_leaves_the_old_one(tmp_path, policy, monkeypatch):
    policy.save(tmp_path / "saved")
    monkeypatch.setattr(policy._ready.weights, "save", lambda folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        policy.save(tmp_path / "saved")
    ready_policy().load(tmp_path / "saved")


def test_other_rank_is_refused_and_nothing_changes(tmp_path, policy):
    policy.save(tmp_path / "saved")
    other = ready_policy(lora=LoraConfig(rank=2))
    before = {name: value.clone() for name, value in other.parameters()}
    with pytest.raises(RecordError, match="another configuration"):
        other.load(tmp_path / "saved")
    assert all(torch.equal(before[name], value) for name, value in other.parameters())


def test_absent_damaged_and_newer_folders_are_refused(tmp_path, policy):
    with pytest.raises(RecordError, match="no saved policy"):
        policy.load(tmp_path / "nowhere")
    policy.save(tmp_path / "saved")
    header = tmp_path / "saved" / "policy.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "format": 99}))
    with pytest.raises(RecordError, match="install a newer xplearn"):
        policy.load(tmp_path / "saved")
    policy.save(tmp_path / "cut")
    weights = tmp_path / "cut" / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40])
    with pytest.raises(RecordError, match="damaged"):
        policy.load(tmp_path / "cut")


@FULL
def test_weights_of_the_right_size_but_other_content_are_refused(tmp_path, lora):
    policy = ready_policy(lora=lora)
    policy.save(tmp_path / "saved")
    weights = next((tmp_path / "saved").glob("*model.safetensors"))
    content = bytearray(weights.read_bytes())
    content[-8] ^= 1
    weights.write_bytes(content)
    with pytest.raises(RecordError, match=r"model\.safetensors: the saved weights are damaged"):
        policy.load(tmp_path / "saved")


@FULL
def test_state_goes_to_another_policy(lora):
    policy = ready_policy(lora=lora)
    train(policy)
    other = ready_policy(lora=lora)
    other.load_state_dict(policy.state_dict())
    shown, said = trajectory(policy)
    assert other.version == 1
    assert torch.equal(scores(other, shown, said), scores(policy, shown, said))


@pytest.mark.parametrize(
    ("field", "value"),
    [("rank", 0), ("alpha", 0.0), ("alpha", math.inf), ("alpha", math.nan), ("dropout", 1.0), ("dropout", math.nan), ("targets", [])],
)
def test_bad_lora_field_is_named(field, value):
    from xplearn.errors import ConfigError

    with pytest.raises(ConfigError, match=f"^{field}: "):
        LoraConfig(**{field: value})


def test_chosen_layers_alone_are_adapted():
    names = [name for name, _ in ready_policy(lora=LoraConfig(rank=2, targets=["q_proj", "v_proj"])).parameters()]
    assert names
    assert all("q_proj" in name or "v_proj" in name for name in names)
