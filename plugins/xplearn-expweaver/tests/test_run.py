"""Whole runs with a tiny language model: the bank fills, the adapter learns, and a run cut short ends as if it had not been."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file
from xplearn_expweaver.latent import LatentConditioner

from xplearn import IncompatibleError, derive, hookimpl
from xplearn.config import load_experiment
from xplearn.experiment.build import check_experiment
from xplearn.experiment.run import run_experiment
from xplearn.learning.grpo import GrpoLearner
from xplearn.plugins import Plugins
from xplearn.record.reader import load
from xplearn.stores.sqlite import SqliteStore

WEAVER = {
    "stream": [{"env": {"name": "core.counting", "length": 2}, "tasks": {"limit": 3}, "rounds": 2}],
    "policy": {"name": "own.fake", "context": 2048},
    "record": {"name": "expweaver.summaries", "max_tokens": 4},
    "selector": "core.all",
    "conditioner": {"name": "expweaver.latent", "k": 2},
    "learner": {"name": "core.grpo", "group_size": 4, "lr": 1e-3},
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 2}, "sampling": {"choices": "admissible"}, "resamples": 100},
}


class Own:
    """The plugin ``own`` with a tiny language model."""

    @hookimpl
    def xplearn_register(self, registry):
        registry.add("policy", "fake", "xplearn.testing.fakes:FakePolicy")


def composed(folder, changes):
    plugins = Plugins().discover()
    plugins.add("own", Own())
    mix = {**WEAVER, **changes, "run": {"dir": str(folder), "batch": 4}}
    experiment, given = load_experiment(mix, [], plugins.registry)
    return experiment, plugins, given


def start(folder, **changes):
    experiment, plugins, given = composed(folder, changes)
    return run_experiment(experiment, plugins=plugins, given=given).folder


def scalars(folder, name):
    """The figures of one learner, round by round."""
    return [line for line in load(folder).scalars() if line["name"] == name]


def outcome(folder):
    """Everything that time and place do not change."""
    run = load(folder)
    episodes = sorted(json.dumps(dataclasses.asdict(dataclasses.replace(found, seconds=0.0))) for found in run.episodes())
    figures = [{name: value for name, value in line.items() if "second" not in name} for line in run.scalars()]
    return episodes, figures, run.header.bank


def moved(folder):
    """Names of the adapter's parameters that are no longer what they were at first."""
    latest = max(folder.glob("checkpoints/*/policy/sites.safetensors"))
    first = LatentConditioner(k=2).adapter(32, derive(0, "expweaver.latent")).state_dict()
    last = {name.removeprefix("0.norm."): value for name, value in load_file(latest).items()}
    assert last.keys() == first.keys()
    return {name for name, value in last.items() if not torch.equal(value, first[name])}


def bank(folder):
    with contextlib.closing(SqliteStore(path=str(folder / "bank" / "bank.sqlite"))) as store:
        return list(store)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return start(tmp_path_factory.mktemp("whole"))


def test_the_bank_is_the_training_tasks_and_no_other(whole):
    record = scalars(whole, "expweaver.summaries")
    assert [line["round"] for line in record] == [0, 1]
    assert record[-1]["bank"] == sum(line["written"] for line in record) > 3
    played = [found for found in load(whole).episodes() if found.split == "train"]
    tasks, sources = {found.task for found in played}, {found.id for found in played}
    assert len(tasks) == 3
    assert {found.source for found in bank(whole)} <= sources
    assert {found.task for found in bank(whole)} == tasks


def test_the_adapter_s_weights_moved(whole):
    assert moved(whole) == {
        "pooling.u",
        "pooling.query.weight",
        "pooling.key.weight",
        "gate.retain.weight",
        "gate.retain.bias",
        "gate.input.weight",
        "gate.input.bias",
        "gate.lambda_",
    }


def test_both_arms_are_evaluated_and_only_one_reads(whole):
    arms = {found.arm for found in load(whole).episodes() if found.phase.startswith("eval")}
    assert arms == {"plain", "experience"}


@pytest.mark.parametrize("broken", ["core.grpo", "expweaver.summaries"])
def test_a_run_cut_short_in_its_second_round_ends_as_if_it_had_not_been(whole, tmp_path, monkeypatch, broken):
    from xplearn_expweaver.writing import Words

    owner, method = {"core.grpo": (GrpoLearner, "learn"), "expweaver.summaries": (Words, "_ask")}[broken]
    original, calls = getattr(owner, method), []

    def failing(self, *args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(owner, method, failing)
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path)
    monkeypatch.undo()
    assert outcome(start(tmp_path)) == outcome(whole)


def test_a_policy_that_makes_its_own_vocabulary_goes_on_too(tmp_path, monkeypatch):
    tiny = {"policy": {"name": "core.tiny", "width": 32, "heads": 2, "layers": 1, "vocabulary": 300, "context_tokens": 1024}}
    tiny["learner"] = {**WEAVER["learner"], "beta": 0.0}
    whole = start(tmp_path / "whole", **tiny)
    original, calls = GrpoLearner.learn, []

    def failing(self, *args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(GrpoLearner, "learn", failing)
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path / "cut", **tiny)
    monkeypatch.undo()
    assert outcome(start(tmp_path / "cut", **tiny)) == outcome(whole)


def test_demonstrations_are_cloned_through_the_latent_memory_by_override_alone(tmp_path):
    folder = start(tmp_path, learner={"name": "core.clone", "epochs": 1, "lr": 1e-2, "arms": "both"})
    assert {"pooling.u", "gate.lambda_"} <= moved(folder)
    assert all(line["tokens"] > 0 for line in scalars(folder, "core.clone"))


def test_the_text_arm_differs_by_selector_and_conditioner_alone(tmp_path):
    text = {
        "selector": {"name": "core.nearest", "k": 2},
        "conditioner": "core.prompt",
        "encoder": {"name": "core.policy", "weights": "current"},
    }
    folder = start(tmp_path, **text)
    assert load(folder).header.encoder.startswith("core.policy/current/")
    assert len(bank(folder)) > 3


def test_a_policy_that_is_not_here_is_refused_with_what_is_missing(tmp_path):
    experiment, plugins, _ = composed(tmp_path, {"policy": {"name": "core.openai", "model": "some", "url": "http://localhost:9/v1"}})
    missing = {problem.capability for problem in check_experiment(experiment, plugins) if problem.slot == "conditioner"}
    assert {"policy.memory", "policy.encode"} <= missing


def test_without_a_learner_that_scores_the_conditioned_pass_the_mix_is_refused(tmp_path):
    experiment, plugins, given = composed(tmp_path, {"learner": []})
    with pytest.raises(IncompatibleError, match=r"learner\.conditioned"):
        run_experiment(experiment, plugins=plugins, given=given)


@pytest.mark.parametrize("overlay", ["text", "search"])
def test_the_latent_run_and_its_text_overlays_keep_keys_of_one_encoder(overlay):
    registry = Plugins().discover().registry
    latent, _ = load_experiment("mini/expweaver", [], registry)
    text, _ = load_experiment("mini/expweaver", [f"preset=[expweaver/{overlay}]"], registry)
    assert latent.encoder == text.encoder
