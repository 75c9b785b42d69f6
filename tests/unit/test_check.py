"""What ``xplearn check`` prints: every stage and part under its path in an override, and no line that buries the answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from xplearn.cli import main
from xplearn.experiment.estimate import to_fetch

POLICY = ["policy=core.random", "sampling.choices=admissible"]
ERRANDS = "{env: core.errands, tasks: {limit: 2}}"
COUNTING = "{env: core.counting, tasks: {limit: 2}}"


def printed(capsys, *words):
    assert main(["check", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_stages_stand_under_the_paths_of_overrides_in_the_order_they_are_learned(capsys):
    lines = printed(capsys, *POLICY, f"stream=[{ERRANDS}, {COUNTING}, {ERRANDS}]", "order=[1,2,0]")
    assert lines[:3] == [
        "stream.1: core.counting, tasks split=train, limit=2, 1 round",
        "stream.2: core.errands, tasks split=train, limit=2, 1 round",
        "stream.0: same environment, tasks split=train, limit=2, 1 round",
    ]


def test_rounds_of_some_tasks_are_told(capsys):
    assert printed(capsys, *POLICY, f"stream=[{ERRANDS[:-1]}, rounds: 3, per_round: 1}}]")[0].endswith("limit=2, 3 rounds of 1")


def test_the_estimates_table_names_stages_alike(capsys):
    lines = printed(capsys, "--estimate", *POLICY, f"stream=[{ERRANDS[:-1]}, warmup: true}}, {COUNTING}]", "order=[1,0]")
    table = lines[lines.index("estimate (nothing was loaded or played)") :]
    assert [line.split("  ")[0] for line in table[2:4]] == ["stream.1", "stream.0 warm-up"]


def test_a_long_list_is_told_by_its_beginning_and_length(capsys):
    ids = [f"train/fetch-letter/{number}" for number in range(5)]
    lines = printed(capsys, *POLICY, f"stream=[{{env: core.errands, tasks: {{ids: [{', '.join(ids)}]}}}}]")
    assert (
        lines[0] == "stream.0: core.errands, tasks split=train, ids=['train/fetch-letter/0', 'train/fetch-letter/1', … 5 in all], 1 round"
    )
    lines = printed(capsys, *POLICY, f"stream=[{{env: core.errands, tasks: {{ids: [{', '.join(ids[:3])}]}}}}]")
    assert "ids=['train/fetch-letter/0', 'train/fetch-letter/1', 'train/fetch-letter/2']" in lines[0]


def test_replay_and_how_evaluation_draws_are_said_only_where_they_are_not_the_usual(capsys):
    usual = "\n".join(printed(capsys, *POLICY, f"stream=[{ERRANDS}]"))
    assert "replay" not in usual
    assert "replica" not in usual
    assert "temperature" not in usual
    changes = ["replay.ratio=0.5", "sampling.temperature=0.7", "evaluate.replicas=3", "evaluate.sampling.temperature=0.2"]
    lines = printed(capsys, *POLICY, f"stream=[{ERRANDS}]", *changes)
    assert "replay: ratio=0.5" in lines
    assert "sampling: temperature=0.7, choices='admissible'" in lines
    assert "evaluate: tasks split=test, arms plain, experience, choices admissible, 3 replicas, temperature 0.2" in lines


def test_the_estimate_ends_with_what_is_needed(capsys):
    assert printed(capsys, "--estimate", *POLICY, f"stream=[{ERRANDS}]")[-1] == (
        "in short: no local weights, so the policy needs no memory here; no model needs fetching"
    )


def test_the_estimate_says_how_large_a_device_training_and_acting_need(capsys):
    pytest.importorskip("peft")
    learns = ["preset=backbone.tiny", f"stream=[{ERRANDS}]", "learner=core.clone", "policy.cache_tokens=4194304"]
    last = printed(capsys, "--estimate", *learns)[-1]
    assert last.startswith("in short: training needs a device of 0.1 GiB at most (0.1 where trajectories are short), acting 8.0 GiB; ")
    assert printed(capsys, "--estimate", *learns[:2], learns[3])[-1].startswith("in short: acting needs a device of 8.0 GiB; ")


def fetched(policy="", encoder=""):
    models = {"policy": SimpleNamespace(model=policy), "encoder": SimpleNamespace(model=encoder)}
    return to_fetch(SimpleNamespace(one=models.__getitem__))


def test_a_model_that_is_not_here_is_named_with_what_gets_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XPLEARN_CACHE", str(tmp_path))
    monkeypatch.setattr("xplearn.policies.backbone.wheel_folder", lambda known: None)
    assert fetched("smollm2", "minilm") == {"smollm2": "xplearn models get smollm2", "minilm": "xplearn models get minilm"}
    assert fetched("nobody/nothing-9B")["nobody/nothing-9B"].startswith("hf download nobody/nothing-9B")


def test_a_model_that_is_here_or_made_needs_no_fetching(tmp_path, monkeypatch):
    monkeypatch.setenv("XPLEARN_CACHE", str(tmp_path))
    (tmp_path / "models" / "smollm2").mkdir(parents=True)
    (tmp_path / "models" / "smollm2" / "config.json").write_text("{}")
    monkeypatch.setattr("xplearn.policies.backbone.wheel_folder", lambda known: tmp_path)
    assert fetched("smollm2", "minilm") == {}
    assert fetched(str(tmp_path), "tiny") == {}
    assert fetched() == {}


def test_the_sizes_of_a_hub_model_in_the_cache_are_not_its_weights(monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    here = {"config.json"}
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda model, name: f"cache/{name}" if name in here else None)
    assert fetched("owner/model")
    here.add("model.safetensors.index.json")
    assert fetched("owner/model") == {}
