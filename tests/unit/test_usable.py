"""Which models are refused, alike by ``core.hf`` and by the estimate, and before any weights are read."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

import torch
import transformers

from xplearn.errors import ConfigError, DataError, XplearnError
from xplearn.policies.estimate import footprint
from xplearn.policies.hf import HfPolicy
from xplearn.policies.usable import check_usable
from xplearn.testing.agents import FakeAgent
from xplearn.testing.fakes import FakePolicy, ready_policy, tiny_model, tiny_tokenizer
from xplearn.types import Conditioning, Sampling

SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
MISTRAL = {"model_type": "mistral", "vocab_size": 300, "max_position_embeddings": 512, **SIZES}


def policy_of(folder, config, **fields):
    (folder / "config.json").write_text(json.dumps(config))
    return HfPolicy(model=str(folder), device="cpu", dtype="fp32", **fields)


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """What ``core.hf`` and the estimate say of a ``config.json``, which must be the same."""

    def never(*_args, **_fields):
        pytest.fail("weights were read")

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", never)

    def found(config, **fields):
        policy = policy_of(tmp_path, config, **fields)
        with pytest.raises(XplearnError) as setup:
            policy.setup(FakeAgent())
        with pytest.raises(XplearnError) as estimated:
            footprint(policy)
        assert (setup.type, str(setup.value)) == (estimated.type, str(estimated.value))
        assert "\n" not in str(setup.value)
        return setup.value

    return found


@pytest.mark.parametrize("lora", [True, False])
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("gpt2", "is not built as a list of decoder layers"),
        ("bert", "is not built as a list of decoder layers"),
        ("opt", "is not built as a list of decoder layers"),
        ("mamba", "is not built as a list of decoder layers"),
        ("xglm", "computes attention in a way of its own"),
        ("gemma2", "has full_attention, sliding_attention layers"),
        ("t5", "is no causal language model"),
        ("qwen2_5_vl", "is no causal language model"),
    ],
)
def test_a_model_of_another_kind_is_refused(refusal, kind, reason, lora):
    told = refusal({"model_type": kind}, **({} if lora else {"lora": None}))
    assert isinstance(told, ConfigError)
    assert str(told).startswith(f"policy.model: '{kind}' ")
    assert reason in str(told)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"num_key_value_heads": 3}, "'num_attention_heads' (4) is no multiple of 'num_key_value_heads' (3)"),
        ({"hidden_act": "nosuch"}, "these sizes make no 'mistral'"),
        ({"sliding_window": -1}, "'sliding_window' must be a whole number from 1"),
        ({"model_type": "nosuch"}, "transformers knows no model of type 'nosuch'"),
    ],
)
def test_a_configuration_that_makes_no_model_is_told_with_its_file(refusal, changes, reason):
    told = refusal({**MISTRAL, **changes})
    assert isinstance(told, DataError)
    assert "config.json" in str(told)
    assert reason in str(told)


@pytest.mark.parametrize(("context", "longest"), [(0, 512), (9, 9), (1000, 512)])
def test_a_window_shorter_than_the_context_is_refused_with_what_to_type(refusal, context, longest):
    assert str(refusal({**MISTRAL, "sliding_window": 8}, context_tokens=context)) == (
        "policy.model: 'mistral' sees the last 8 tokens only (sliding_window) and conversations may have "
        f"{longest}; keep them within what it sees: policy.context_tokens=8"
    )


def test_the_window_that_a_type_has_unless_told_otherwise_counts(refusal):
    assert "the last 4096 tokens" in str(refusal({**MISTRAL, "max_position_embeddings": 8192}))


@pytest.mark.parametrize(
    ("changes", "context"),
    [
        ({"sliding_window": 8}, 8),
        ({"sliding_window": 512}, 0),
        ({"sliding_window": None}, 0),
        ({"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": False}, 0),
        ({"model_type": "qwen3", "sliding_window": 8, "use_sliding_window": False}, 0),
        ({"model_type": "qwen3_moe", "sliding_window": 8, "use_sliding_window": False}, 0),
        ({"model_type": "llama", "sliding_window": 8}, 0),
    ],
)
def test_a_window_that_hides_nothing_is_fine(tmp_path, changes, context):
    policy = policy_of(tmp_path, {**MISTRAL, **changes}, context_tokens=context)
    check_usable(policy.model, dtype=torch.float32, context_tokens=context)
    assert footprint(policy).context == (context or 512)


def test_within_its_window_a_model_says_what_transformers_says(tmp_path):
    """And would not beyond it: full attention is another function there."""
    config = transformers.MistralConfig(
        **MISTRAL | {"vocab_size": len(tiny_tokenizer())}, sliding_window=64, initializer_range=0.3, eos_token_id=2, bos_token_id=1
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        plain = transformers.MistralForCausalLM(config).eval()
    plain.save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    policy = HfPolicy(model=str(tmp_path), device="cpu", dtype="fp32", lora=None, context_tokens=64)
    policy.setup(FakeAgent())
    talk = Conditioning(messages=({"role": "user", "content": "go to the hall"},))
    (said,) = policy.generate([talk], Sampling(max_new_tokens=16, temperature=0.0, stop=()), [0])
    assert 32 < len(said.prompt_ids) + len(said.token_ids) <= 64
    ids = torch.tensor([said.prompt_ids])
    output = plain.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=len(said.token_ids), do_sample=False, pad_token_id=0)
    assert list(said.token_ids) == output[0, ids.shape[1] :].tolist()


@pytest.mark.parametrize(
    ("name", "value"), [("final_logit_softcapping", 30.0), ("logit_scale", 30.0), ("layer_types", ["sliding_attention"])]
)
def test_a_model_made_in_memory_is_looked_at_too(monkeypatch, name, value):
    def load(_policy):
        model = tiny_model()
        setattr(model.config, name, value)
        return model, tiny_tokenizer()

    monkeypatch.setattr(FakePolicy, "_load", load)
    with pytest.raises(ConfigError, match=name.removesuffix("_types").replace("layer", "sliding_attention layers")):
        ready_policy()
