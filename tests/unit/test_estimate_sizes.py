"""What ``xplearn check --estimate`` makes of a ``config.json`` that is odd, damaged, or another architecture's."""

import json
import time

import pytest

from xplearn.cli import main
from xplearn.errors import ConfigError, DataError
from xplearn.interfaces.learner import Learner
from xplearn.policies.architecture import architecture

LLAMA = {"model_type": "llama", "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4} | {
    "num_key_value_heads": 2,
    "vocab_size": 300,
    "max_position_embeddings": 512,
}
MIXTURE = {**LLAMA, "model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}


def written(folder, config):
    (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return str(folder)


@pytest.fixture
def footprint(tmp_path):
    """The footprint of the policy ``core.hf`` with a model of this ``config.json``."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("peft")
    from xplearn.policies.estimate import footprint
    from xplearn.policies.hf import HfPolicy
    from xplearn.policies.weights import LoraConfig

    def found(config, *, lora=8, targets=("all-linear",), **fields):
        weights = LoraConfig(rank=lora, targets=list(targets)) if lora else None
        return footprint(HfPolicy(model=written(tmp_path, config), lora=weights, **fields))

    return found


# ---------------------------------------------------------------- sizes that are none


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", 0),
        ("hidden_size", "64"),
        ("hidden_size", float("nan")),
        ("num_hidden_layers", 0),
        ("num_hidden_layers", -1),
        ("num_hidden_layers", 2.0),
        ("num_hidden_layers", True),
        ("num_attention_heads", 0),
        ("num_key_value_heads", 0),
        ("head_dim", [16]),
        ("max_position_embeddings", 0),
        ("vocab_size", 1e30),
        ("vocab_size", 10**30),
    ],
)
def test_a_size_that_is_no_number_above_0_is_named_with_its_file(tmp_path, key, value):
    folder = written(tmp_path, {**LLAMA, key: value})
    with pytest.raises(DataError, match=rf"config\.json: '{key}' must be a whole number from 1 to ") as caught:
        architecture(folder)
    assert "\n" not in str(caught.value)


def test_a_size_of_a_model_inside_a_model_is_looked_at_too(tmp_path):
    with pytest.raises(DataError, match=r"'text_config\.hidden_size' must be a whole number"):
        architecture(written(tmp_path, {"model_type": "llava", "text_config": {"hidden_size": "wide"}}))


def test_json_nested_without_end_is_damage(tmp_path):
    with pytest.raises(DataError, match=r"config\.json: cannot be read"):
        architecture(written(tmp_path, "[" * 200_000))


def test_a_hundred_thousand_layers_are_refused_at_once(footprint):
    began = time.process_time()
    with pytest.raises(DataError, match=r"'num_hidden_layers' must be a whole number from 1 to 512, not 100000"):
        footprint({**LLAMA, "num_hidden_layers": 100_000})
    assert time.process_time() - began < 30  # to build them took more than minutes


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"num_attention_heads": 5, "num_key_value_heads": 5},
            r"hidden.size \(48\) is not a multiple of the number of attention heads \(5\)",
        ),
        ({"model_type": "qwen2", "num_attention_heads": 5, "num_key_value_heads": 5}, r"'hidden_size' \(48\) is no multiple of 'num_att"),
        ({"num_key_value_heads": 3}, r"'num_attention_heads' \(4\) is no multiple of 'num_key_value_heads' \(3\)"),
        ({"max_position_embeddings": None}, "'max_position_embeddings' expected int, got NoneType"),
        ({"torch_dtype": "float9"}, "'torch_dtype' names no number format of torch: 'float9'"),
        ({"dtype": "nn"}, "'dtype' names no number format of torch: 'nn'"),
        ({"hidden_act": "nosuch"}, "make no 'llama' .*nosuch"),
        ({"rope_theta": "high"}, "make no 'llama'"),
        ({"layer_types": 3}, "transformers cannot use it"),
        ({"hidden_size": 12}, "forward pass of this 'llama' cannot be counted"),
    ],
)
def test_values_that_make_no_model_are_one_line_with_the_file(footprint, changes, reason):
    with pytest.raises(DataError, match=reason) as caught:
        footprint({**LLAMA, **changes})
    assert "config.json: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_adapter_that_fits_nowhere_is_the_configurations_fault(footprint):
    with pytest.raises(ConfigError, match=r"^lora: no such adapter can be put on 'llama'"):
        footprint(LLAMA, targets=["nowhere"])


# ---------------------------------------------------------------- other architectures


@pytest.mark.parametrize("kind", ["gpt2", "bert", "opt", "bloom", "mamba"])
@pytest.mark.parametrize("lora", [8, None])
def test_a_model_that_cannot_be_taken_apart_is_refused(footprint, kind, lora):
    with pytest.raises(ConfigError, match=rf"^policy\.model: '{kind}' \(.*config\.json\) is not built as a list of decoder layers with"):
        footprint({"model_type": kind}, lora=lora)


@pytest.mark.parametrize("kind", ["t5", "qwen2_5_vl", "clip"])
def test_what_is_no_language_model_is_refused(footprint, kind):
    with pytest.raises(ConfigError, match=rf"^policy\.model: '{kind}' \(.*config\.json\) is no causal language model"):
        footprint({"model_type": kind})


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
def test_of_a_mixture_each_token_keeps_what_its_experts_read(footprint, dtype):
    one, two = (footprint({**MIXTURE, "num_experts_per_tok": number}, lora=None, dtype=dtype) for number in (1, 2))
    more = footprint({**MIXTURE, "num_local_experts": 8}, lora=None, dtype=dtype)
    assert one.kept < two.kept < 2 * one.kept
    assert one.backbone == two.backbone
    assert max(one.fixed, more.fixed) < 16, "the loss itself"
    assert more.backbone - two.backbone == 2 * 4 * (3 * 48 * 96 + 48)
    assert more.kept - two.kept < two.kept / 10, "the router's scores alone"


def test_experts_with_an_adapter_are_copied_whole_whatever_is_read(footprint):
    experts = 2 * 4 * 3 * 48 * 96
    found = footprint(MIXTURE, dtype="bf16")
    assert 2 * experts <= found.fixed < 8 * experts
    assert found.training(100) - found.training(0) == 100 * found.kept
    assert found.activations(100) == found.fixed + 100 * found.kept
    assert footprint(LLAMA).fixed < 16


def test_what_is_quantised_is_said_to_be_counted_as_if_it_were_not(footprint):
    plain = footprint(LLAMA, dtype="bf16")
    for quantised in ({"quant_method": "bitsandbytes", "load_in_4bit": True}, {"quant_method": "nosuch"}, 3):
        found = footprint({**LLAMA, "quantization_config": quantised}, dtype="bf16")
        assert found.origin == f"{plain.origin}, quantised there and counted in bfloat16"
        assert found.weights == plain.weights


def test_autocast_is_back_after_a_count(footprint):
    import torch

    before = torch.autocast
    footprint(MIXTURE)
    assert torch.autocast is before


def test_the_command_prints_one_line(footprint, tmp_path, capsys):
    model = written(tmp_path, {"model_type": "gpt2"})
    words = ["stream=[{env: core.errands}]", "policy.name=core.hf", f"policy.model={model}", "learner=core.clone"]
    assert main(["check", "--estimate", *words]) == 2
    told = capsys.readouterr().err.strip()
    assert told.count("\n") == 0
    assert "'gpt2'" in told


# ---------------------------------------------------------------- positions of a forward pass


def test_a_learner_reads_one_trajectory_at_once_unless_it_says_otherwise():
    class Reader(Learner):
        def learn(self, batch, agent):
            return {}

    assert Reader().forward_tokens(700) == 700


def test_cloning_fills_its_micro_batch_and_reads_a_longer_trajectory_alone():
    pytest.importorskip("torch")
    from xplearn.learning.clone import CloneLearner

    learner = CloneLearner(micro_tokens=1000)
    assert [learner.forward_tokens(tokens) for tokens in (10, 1000, 3000)] == [1000, 1000, 3000]


def test_dpo_holds_a_pair():
    pytest.importorskip("torch")
    baselines = pytest.importorskip("xplearn_baselines.eto")
    learner = baselines.EtoLearner(micro_tokens=1000)
    assert [learner.forward_tokens(tokens) for tokens in (10, 1000, 3000)] == [1000, 2000, 6000]
