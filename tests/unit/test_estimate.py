"""``xplearn check --estimate``: counts against runs, parameters against published ones, memory against what was measured."""

import json
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from xplearn.cli import main
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, DataError
from xplearn.experiment.build import build_parts
from xplearn.experiment.estimate import count, tokens_at_once
from xplearn.experiment.run import run_experiment
from xplearn.plugins import installed
from xplearn.policies.architecture import architecture
from xplearn.record.reader import load
from xplearn.testing.dial import dial_plugins

HARNESS = {
    "policy": "dial.policy",
    "store": "core.memory",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "evaluate": {"tasks": {"limit": 3, "split": "test"}, "resamples": 100},
}
ONE = [{"env": "core.errands", "tasks": {"limit": 4}}]
TWO = [*ONE, {"env": "core.counting", "tasks": {"limit": 3}}]
THREE = [{"env": "core.errands", "tasks": {"limit": 2}, "warmup": True}, *TWO]
TOY = ["stream=[{env: core.errands, tasks: {limit: 2}}]", "policy=core.random", "sampling.choices=admissible", "evaluate.tasks.limit=2"]

EXPERIMENTS = {
    "nobody learns": {"stream": TWO, "policy": "core.random", "selector": "core.none", "record": [], "sampling": {"choices": "admissible"}},
    "only the bank grows": {"stream": TWO},
    "only the weights": {"stream": TWO, "selector": "core.none", "record": [], "learner": "dial.turn"},
    "nothing before": {"stream": ONE, "learner": "dial.turn", "evaluate": {**HARNESS["evaluate"], "before": False, "arms": ["experience"]}},
    "a warm-up": {"stream": THREE, "learner": "dial.turn", "evaluate": {**HARNESS["evaluate"], "replicas": 2}},
    "a warm-up that nobody learns from": {"stream": THREE},
    "two rounds of groups": {
        "stream": [{**stage, "rounds": 2} for stage in TWO],
        "learner": {"name": "dial.turn", "arms": ["plain", "experience"], "replicas": 2},
        "replay": {"ratio": 0.3},
    },
    "rounds of some tasks": {
        "stream": [{**ONE[0], "rounds": 3, "per_round": 3}, {**TWO[1], "rounds": 2, "per_round": 9}],
        "learner": {"name": "dial.turn", "arms": ["plain", "experience"], "replicas": 2},
        "replay": {"ratio": 0.5},
    },
    "demonstrations": {
        "stream": [{**stage, "rounds": 2} for stage in THREE],
        "learner": {"name": "dial.turn", "arms": ["plain", "experience"], "source": "demonstration"},
        "replay": {"ratio": 1.0},
    },
    "demonstrations beside rollouts": {
        "stream": [{**stage, "rounds": 2} for stage in TWO],
        "learner": {"name": "dial.turn", "source": "both", "rollouts_from": 1},
        "replay": {"ratio": 0.5},
    },
}


@pytest.mark.parametrize("changes", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_what_was_counted_is_what_a_run_records(tmp_path, changes):
    plugins = dial_plugins()
    experiment, given = load_experiment({**HARNESS, **changes, "run": {"dir": str(tmp_path)}}, [], plugins.registry)
    counts = count(experiment, plugins)
    run = load(run_experiment(experiment, plugins=plugins, given=given).folder)
    episodes = list(run.episodes())
    assert counts.phases == Counter(episode.phase for episode in episodes)
    assert {str(point) for point in counts.points} == set(run.header.bank)
    assert counts.evaluated == sum(episode.phase.startswith("eval/") for episode in episodes)
    assert counts.panels == {name: panel["tasks"] for name, panel in run.header.panels.items()}
    for stage in counts.stages:
        figures = [line for line in run.scalars() if line["stage"] == stage.index]
        assert stage.recorded == sum(line["written"] + line["left_out"] for line in figures if line["learner"] == "record.0")
        assert stage.studied + stage.replayed == sum(line["batch"] for line in figures if line["learner"] == "learner.0")
    assert (counts.steps is None) == ("core.counting" in counts.panels), "the counting game has no field max_steps"
    assert counts.steps is None or sum(episode.length for episode in episodes if episode.phase.startswith("eval/")) <= counts.steps


def test_steps_are_bounded_by_the_environment_or_the_run():
    plugins = dial_plugins()
    changes = {"stream": [{"env": {"name": "core.errands", "max_steps": 9}, "tasks": {"limit": 4}}], "learner": "dial.turn"}
    stage = count(load_experiment({**HARNESS, **changes}, [], plugins.registry)[0], plugins).stages[0]
    assert (stage.played, stage.steps) == (4, 36)
    shorter = load_experiment({**HARNESS, **changes}, ["run.max_steps=5"], plugins.registry)[0]
    assert count(shorter, plugins).stages[0].steps == 20


def test_a_slice_that_cannot_be_played_is_refused():
    plugins = dial_plugins()
    experiment, _ = load_experiment({**HARNESS, "stream": ONE}, ["stream.0.tasks.kinds=[fetch]"], plugins.registry)
    with pytest.raises(ConfigError, match=r"stream\.0\.tasks\.kinds: no task has 'fetch'"):
        count(experiment, plugins)


def test_a_policy_without_weights_is_said_and_torch_is_not_imported(capsys):
    assert main(["check", *TOY]) == 0
    assert "estimate" not in capsys.readouterr().out
    assert main(["check", "--estimate", *TOY]) == 0
    printed = capsys.readouterr().out
    assert "no local weights" in printed
    assert "(2 core.errands) = 2 episodes, 24 steps at max_steps" in printed
    code = f"import sys\nfrom xplearn.cli import main\nassert main(['check', '--estimate', *{TOY}]) == 0\nassert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_model_that_is_nowhere_is_one_line_with_what_to_do():
    pytest.importorskip("huggingface_hub")
    with pytest.raises(DataError, match=r"^nobody/nothing-9B: its sizes are not known here .*hf download nobody/nothing-9B config\.json"):
        architecture("nobody/nothing-9B")


def test_a_damaged_configuration_is_told_with_its_path(tmp_path):
    for damaged in ("{", "[]", "{}"):
        (tmp_path / "config.json").write_text(damaged)
        with pytest.raises(DataError, match=r"config\.json: .*give a folder that save_pretrained wrote"):
            architecture(str(tmp_path))


def test_a_known_model_that_is_not_here_is_in_the_table(tmp_path, monkeypatch):
    monkeypatch.setenv("XPLEARN_CACHE", str(tmp_path))
    assert architecture("smollm2").origin == "a table of 7 models"


# ---------------------------------------------------------------- with torch

PUBLISHED = {
    "Qwen/Qwen3-1.7B": 1_720_574_976,
    "Qwen/Qwen3-4B": 4_022_468_096,
    "Qwen/Qwen3-8B": 8_190_735_360,
    "Qwen/Qwen3-14B": 14_768_307_200,
    "Qwen/Qwen2.5-3B-Instruct": 3_085_938_688,
    "Qwen/Qwen2.5-7B-Instruct": 7_615_616_512,
    "smollm2": 134_515_008,
}


@pytest.fixture(scope="module")
def estimate():
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    pytest.importorskip("peft")
    from xplearn.policies import estimate

    return estimate


def hf(**fields):
    from xplearn.policies.hf import HfPolicy
    from xplearn.policies.weights import LoraConfig

    lora = fields.pop("lora", {"rank": 16})
    return HfPolicy(lora=LoraConfig(**lora) if lora else None, **fields)


@pytest.mark.parametrize(("model", "parameters"), PUBLISHED.items())
def test_parameters_are_those_published(estimate, tmp_path, monkeypatch, model, parameters):
    monkeypatch.setenv("XPLEARN_CACHE", str(tmp_path))
    assert estimate.footprint(hf(model=model)).backbone == parameters


def llama(folder, **fields):
    sizes = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    config = {"model_type": "llama", "vocab_size": 300, "max_position_embeddings": 512, "tie_word_embeddings": False, **sizes, **fields}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def test_the_adapter_has_the_size_that_training_gives_it(estimate, tmp_path):
    found = estimate.footprint(hf(model=llama(tmp_path), dtype="bf16", lora={"rank": 8}, context_tokens=100, cache_tokens=1000))
    width, groups, inner = 48, 24, 96
    ends = [(width, width), (width, groups), (width, groups), (width, width), (width, inner), (width, inner), (inner, width)]
    assert found.trainable == 2 * 8 * sum(map(sum, ends))
    assert (found.dtype, found.lora, found.context) == ("bfloat16", True, 100)
    assert found.weights == 2 * found.backbone
    assert found.adapter == 4 * found.trainable
    assert found.states == 4 * found.adapter
    assert found.cached == 2 * 2 * 2 * 2 * 12
    assert found.acting == found.weights + found.adapter + 1000 * found.cached


def test_without_an_adapter_everything_is_trained_in_float32(estimate, tmp_path):
    found = estimate.footprint(hf(model=llama(tmp_path), lora=None))
    assert (found.trainable, found.dtype, found.adapter) == (found.backbone, "float32", 0)
    assert found.states == 5 * found.weights


def test_dropout_is_kept_as_a_mask_of_bytes(estimate, tmp_path):
    plain, dropped = (estimate.footprint(hf(model=llama(tmp_path), dtype="fp32", lora={"dropout": share})) for share in (0.0, 0.1))
    assert plain.kept < dropped.kept < 2 * plain.kept


def test_a_gpu_that_is_not_here_is_taken_for_one_that_multiplies_in_bf16(estimate, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert estimate.footprint(hf(model=llama(tmp_path), device="cuda")).dtype == "bfloat16"


@pytest.mark.parametrize(
    ("fields", "error", "reason"),
    [
        ({"model_type": "no-such-model"}, DataError, "transformers knows no model of type 'no-such-model'"),
        ({"model_type": "gemma2"}, ConfigError, "only models with full attention are supported"),
    ],
)
def test_an_architecture_that_cannot_be_used_says_so(estimate, tmp_path, fields, error, reason):
    with pytest.raises(error, match=reason):
        estimate.footprint(hf(model=llama(tmp_path, **fields)))


def prepared(**fields):
    from xplearn.policies.tiny import TinyPolicy

    policy = TinyPolicy(**fields)
    policy.setup(SimpleNamespace(seed=0))
    policy.prepare([f"{word} {number} and the {word}" for word in ("lamp", "door", "garden", "window") for number in range(200)])
    return policy


def test_the_tiny_policy_is_counted_as_it_is_made(estimate):
    policy = prepared(layers=3, width=64, heads=2, vocabulary=320)
    found = estimate.footprint(policy)
    assert found.trainable == sum(value.numel() for _, value in policy.parameters())


def test_what_training_keeps_is_what_was_measured(estimate):
    """The tensors alive at the peak of a training step, as torch's profiler sees them."""
    policy = prepared(layers=4, width=96, heads=4, vocabulary=512, context_tokens=2048)
    found, positions, peak = estimate.footprint(policy), *trained(policy)
    assert 0.8 < found.kept * positions / peak < 1.5


def trained(policy):
    """Tokens that one step read, and bytes allocated at its peak on top of what was there before."""
    from torch.profiler import ProfilerActivity, profile

    from xplearn.learning.losses import masked_sum
    from xplearn.types import Conditioning

    talk, seen, said = [], [], []
    for turn in range(12):
        talk.append({"role": "user", "content": f"the lamp and the door and the window of the garden {turn} " * 4})
        seen.append(Conditioning(messages=tuple(talk)))
        said.append("open the door of the garden " * 8)
        talk.append({"role": "assistant", "content": said[-1]})
    rows = policy.transcribe(seen, said)
    with policy.training(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        scores = policy.score(seen, rows)
        (-masked_sum(scores.logprobs, scores.mask)).backward()
    moves = sorted((event.start_ns(), event.nbytes()) for event in watched.profiler.kineto_results.events() if event.name() == "[memory]")
    alive = most = 0
    for _, size in moves:
        alive += size
        most = max(most, alive)
    return len(rows[-1].prompt_ids) + len(rows[-1].token_ids), most


# ---------------------------------------------------------------- the paper's presets

SETTINGS = {
    "policy": {"model": "Qwen/Qwen3-8B", "dtype": "bf16", "template_options": {"enable_thinking": False}},
    "selector": {"k": 1, "space": "key"},
    "record.0": {"writer": "policy", "source": "demonstration", "max_steps": 8, "start_chars": 300},
    "curriculum": {"k": 3, "budget": "knee", "pool": "stage", "space": ""},
    "learner.0": {"arms": "experience", "reduction": "trajectory", "epochs": 3, "batch": 16, "lr": 1e-4, "schedule": "cosine"}
    | {"warmup_share": 0.03, "empty_share": 0.1},
}
"""What HaMo's paper says, and what we put in its blanks."""


@pytest.fixture
def paper(estimate):
    for module in ("xplearn_hamo", "xplearn_scienceworld", "xplearn_alfworld", "xplearn_webshop"):
        pytest.importorskip(module)

    def opened(name, *overrides):
        experiment, _ = load_experiment(name, overrides, installed().registry)
        return experiment, build_parts(experiment, installed().registry)

    return opened


@pytest.mark.parametrize("name", ["paper/hamo_indomain", "paper/hamo_cross"])
def test_the_presets_have_the_settings_of_the_paper(paper, estimate, name):
    experiment, parts = paper(name)
    for path, fields in SETTINGS.items():
        assert {field: getattr(parts.one(path), field) for field in fields} == fields
    lora = parts.one("policy").lora
    assert (lora.rank, lora.alpha, lora.dropout, lora.targets) == (16, 32, 0.05, ["all-linear"])
    assert 4096 <= parts.one("policy").context_tokens <= 8192
    assert (parts.by_path["encoder"][1], parts.by_path["conditioner"][1]) == ("core.minilm", "core.prompt")
    assert (experiment.replay.ratio, experiment.evaluate.sampling.temperature, experiment.evaluate.before) == (1.0, 0.0, True)
    assert estimate.footprint(parts.one("policy")).training(tokens_at_once(parts)) < 80e9


def test_in_one_domain_four_parts_hold_every_kind_and_the_test_split_is_whole(paper):
    experiment, _ = paper("paper/hamo_indomain")
    env = experiment.stream[0].env
    assert all(stage.env == env for stage in experiment.stream)
    assert (len(env.fields["kinds"]), env.fields["simplifications"], env.fields["step_caps"]) == (24, "easy", "papers")
    counts = count(experiment, installed())
    assert [(stage.shown, stage.recorded, stage.studied, stage.replayed) for stage in counts.stages] == [
        (352, 352, 352, 0),
        *[(352, 352, 352, 352)] * 3,
    ]
    assert (counts.points, counts.panels, counts.evaluated) == ([0, 1, 2, 3, 4], {"scienceworld.text": 1162}, 11_620)
    as_released = load_experiment("paper/hamo_indomain", ["evaluate.tasks.per_kind=10"], installed().registry)[0]
    assert count(as_released, installed()).panels == {"scienceworld.text": 211}


def test_across_domains_the_counts_are_those_of_the_release_or_all_there_is(paper):
    experiment, _ = paper("paper/hamo_cross")
    counts = count(experiment, installed())
    assert [(stage.env, stage.shown, stage.replayed) for stage in counts.stages] == [
        ("scienceworld.text", 1408, 0),
        ("alfworld.text", 3321, 1408),
        ("webshop.text", 447, 447),
    ]
    assert [stage.tasks.limit for stage in experiment.stream] == [None, 3321, 1824]
    assert [stage.env.fields.get("max_steps") for stage in experiment.stream] == [None, 40, 10]
    assert counts.panels == {"scienceworld.text": 200, "alfworld.text": 134, "webshop.text": 91}
    assert counts.evaluated == 4 * 2 * (200 + 134 + 91)


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        (["paper/hamo_indomain", "preset=[backbone.qwen3-14b]"], "14,768,307,200, trained 64,225,280"),
        (["paper/hamo_cross"], "8,190,735,360, trained 43,646,976"),
        (["demo-tiny"], "459,392, trained 459,392 (all of them)"),
    ],
)
def test_check_prints_the_estimate_of_a_preset(paper, capsys, words, parameters):
    assert main(["check", "--estimate", *words]) == 0
    printed = capsys.readouterr().out
    assert "sound: every part finds what it requires" in printed
    assert parameters in printed
    assert "training, most" in printed
