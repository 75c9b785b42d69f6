"""Work in common among language models and the parts of all methods: what is taken over is what would have been computed."""

import hashlib
import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("xplearn_edge")
pytest.importorskip("xplearn_expweaver")
pytest.importorskip("xplearn_hamo")

import torch
from safetensors.torch import load_file

from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.experiment.shared import Shared
from xplearn.plugins import installed
from xplearn.policies.precision import set_threads
from xplearn.record.reader import load

pytestmark = pytest.mark.slow

ERRANDS = {"env": "core.errands", "tasks": {"limit": 6}}
GRPO = [{"name": "core.grpo", "group_size": 4, "lr": 1e-3}]
BASE = {
    "stream": [{**ERRANDS, "warmup": True, "record": True}, {**ERRANDS, "rounds": 2}],
    "policy": {"name": "core.tiny", "layers": 1, "width": 64, "heads": 2, "vocabulary": 300, "context_tokens": 1024, "threads": 1},
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": {"name": "hamo.cards", "writer": "rules"},
    "warmup": [{"name": "core.clone", "arms": "both", "epochs": 2, "lr": 3e-3}],
    "learner": GRPO,
    "sampling": {"choices": "admissible", "temperature": 1.0},
    "evaluate": {"tasks": {"limit": 4, "split": "test"}, "resamples": 100},
}
EDGE = {
    "record": {"name": "edge.evolve", "writer": "rules", "seeds_per_kind": 2},
    "selector": {"name": "edge.retrieve", "k": 2},
    "learner": [{"name": "edge.distill", "group_size": 4, "lr": 1e-3}],
}
LATENT = {
    "record": {"name": "expweaver.summaries", "writer": "rules"},
    "selector": "core.all",
    "conditioner": {"name": "expweaver.latent", "k": 2},
}
MIXES = {
    "hamo": {"curriculum": "hamo.coverage"},
    "edge": EDGE,
    "expweaver": LATENT,
    "edge's bank, latent": {**LATENT, "learner": EDGE["learner"]},
}


def start(folder, shared, changes):
    plugins = installed()
    experiment, given = load_experiment({**BASE, **changes, "run": {"dir": str(folder), "batch": 8}}, [], plugins.registry)
    return load(run_experiment(experiment, plugins=plugins, given=given, shared=shared).folder)


def results(run):
    return {found.id: (found.score, found.length, found.tokens_in, found.tokens_out) for found in run.episodes()}


def weights(run):
    return {
        path.relative_to(run.path).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in run.path.glob("checkpoints/*/policy/**/*")
        if path.is_file()
    }


def figures(run):
    """What learners told, times aside."""
    return [{name: value for name, value in line.items() if "second" not in name} for line in run.scalars()]


@pytest.mark.parametrize("mix", MIXES)
def test_a_model_learns_the_same_whether_it_shares_or_not(tmp_path, mix):
    alone = start(tmp_path / "alone", None, MIXES[mix])
    shared = Shared(tmp_path / "shared")
    for name in ("first", "second"):
        run = start(tmp_path / name, shared, MIXES[mix])
        assert results(run) == results(alone)
        assert figures(run) == figures(alone)
        assert weights(run) == weights(alone)
        assert run.header.bank == alone.header.bank
        assert (run.path / "history.jsonl").read_text() == (alone.path / "history.jsonl").read_text()


def test_a_warm_up_is_learned_once_by_all_who_learn_otherwise_afterwards(tmp_path):
    shared = Shared(tmp_path / "shared")
    first = start(tmp_path / "first", shared, EDGE)
    alone = start(tmp_path / "alone", None, {**EDGE, "learner": GRPO})
    other = start(tmp_path / "other", shared, {**EDGE, "learner": GRPO})
    seconds = [[call.seconds for call in run.calls() if call.learner == "warmup.0"] for run in (first, other)]
    assert seconds[0] == seconds[1]
    assert results(other) == results(alone)
    assert [json.dumps(line, sort_keys=True) for line in figures(other)[:2]] == [
        json.dumps(line, sort_keys=True) for line in figures(first)[:2]
    ]
    for path, value in _tensors(alone).items():
        assert value.sub(_tensors(other)[path]).abs().max() < 1e-4, path


def test_other_threads_share_nothing_that_a_model_did(tmp_path):
    set_threads(0)  # undoes what the policy of an earlier test set
    shared, before = Shared(tmp_path / "shared"), torch.get_num_threads()
    changes = {"policy": {**BASE["policy"], "threads": 0}, "stream": [ERRANDS], "warmup": [], "learner": []}
    played = []
    try:
        for name, threads in (("first", 1), ("second", 1), ("third", 2)):
            torch.set_num_threads(threads)
            start(tmp_path / name, shared, changes)
            played.append(len(list(shared.folder.glob("episodes/*/*"))))
    finally:
        torch.set_num_threads(before)
    assert played[0] == played[1] == played[2] / 2


def _tensors(run):
    last = max(run.path.glob("checkpoints/*/policy"))
    return {f"{path.name} {name}": value for path in last.rglob("*.safetensors") for name, value in load_file(path).items()}
