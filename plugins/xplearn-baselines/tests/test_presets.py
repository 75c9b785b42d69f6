"""Each baseline is laid over another method's run by one override, and keeps that run's stream, policy and panel."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import xplearn

METHOD = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 3}, "rounds": 2}, {"env": "core.counting", "tasks": {"limit": 3}, "rounds": 2}],
    "policy": {"name": "core.tiny", "layers": 1, "width": 32},
    "record": "core.record",
    "selector": {"name": "core.nearest", "k": 1},
    "conditioner": "core.prompt",
    "curriculum": {"name": "core.random", "k": 2},
    "replay": {"ratio": 1.0},
    "learner": [{"name": "core.clone", "epochs": 1, "empty_share": 0.1}],
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 2}, "resamples": 100},
}


def laid_over(tmp_path, preset, **changes):
    result = xplearn.run({**METHOD, "run": {"dir": str(tmp_path)}}, preset=f"baselines/{preset}", **changes)
    return xplearn.load(result.folder)


def learned(run):
    return [line["learner"] for line in run.scalars()]


def test_base_is_evaluated_without_bank_and_without_learning(tmp_path):
    run = laid_over(tmp_path, "base")
    assert learned(run) == []
    assert {episode.arm for episode in run.episodes()} == {"plain"}
    assert all(episode.phase.startswith("eval/0/") for episode in run.episodes()), "what never changes is played once"


def test_base_with_harness_writes_the_runs_own_bank_and_trains_nothing(tmp_path):
    run = laid_over(tmp_path, "base_harness")
    assert learned(run) == ["record.0", "learner.0"] * 4
    assert [line["bank"] for line in run.scalars()[::2]] == [3.0, 3.0, 6.0, 6.0], "demonstrations, once a stage"
    assert {episode.arm for episode in run.episodes()} == {"plain", "experience"}
    assert run.header.resolved["selector"] == {"name": "core.nearest", "fields": {"k": 1}}
    assert [line["steps"] for line in run.scalars() if "steps" in line] == []


def test_model_only_clones_every_demonstration_without_bank_or_replay(tmp_path):
    run = laid_over(tmp_path, "model_only")
    assert learned(run) == ["learner.0"] * 4
    assert [line["trajectories"] for line in run.scalars()] == [3.0] * 4
    assert {episode.arm for episode in run.episodes()} == {"plain"}


def test_model_only_over_a_run_with_a_second_learner_keeps_what_that_run_clones_with(tmp_path):
    method = {
        **METHOD,
        "learner": [{"name": "core.clone", "epochs": 1, "batch": 2, "lr": 1e-3}, {"name": "core.record", "space": "studied"}],
    }
    overrides = {"preset": "baselines/model_only", "learner.1": "baselines.untrained"}
    run = xplearn.load(xplearn.run({**method, "run": {"dir": str(tmp_path)}}, **overrides).folder)
    assert learned(run) == ["learner.0", "learner.1"] * 4
    assert [line["steps"] for line in run.scalars() if "steps" in line] == [2.0] * 4
    assert [line for line in run.scalars() if "bank" in line] == []
    fields = run.header.resolved["learner"][0]["fields"]
    assert {name: fields[name] for name in ("epochs", "batch", "lr", "arms")} == {"epochs": 1, "batch": 2, "lr": 1e-3, "arms": "plain"}


def test_settings_of_the_learner_are_given_again_by_override(tmp_path):
    run = laid_over(tmp_path, "model_only", **{"learner.0.epochs": 2, "learner.0.batch": 3})
    assert [line["steps"] for line in run.scalars()] == [2.0] * 4


def test_agent_tuning_adds_four_conversations_to_each_demonstration(tmp_path):
    run = laid_over(tmp_path, "agent_tuning", **{"learner.0.epochs": 1})
    assert [(line["general"], line["trajectories"]) for line in run.scalars()] == [(12.0, 15.0)] * 4


def test_eto_clones_then_prefers_in_every_stage(tmp_path):
    pytest.importorskip("trl")
    run = laid_over(tmp_path, "eto", **{"learner.0.epochs": 1})
    assert ["pairs" in line for line in run.scalars()] == [False, True] * 2
    assert run.header.resolved["sampling"]["temperature"] == 0.7
    assert run.header.resolved["sampling"]["choices"] == "admissible"


def test_eto_says_what_to_type_where_a_stage_has_one_round(tmp_path):
    stream = [{**METHOD["stream"][0], "rounds": 1}, METHOD["stream"][1]]
    with pytest.raises(xplearn.ConfigError, match=r"stream\.0\.rounds: is 1, .*; type stream\.0\.rounds=2$"):
        laid_over(tmp_path, "eto", stream=stream)
