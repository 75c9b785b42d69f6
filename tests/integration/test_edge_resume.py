"""EDGE killed with SIGKILL at ten places: each time the same command goes on, and bank, weights and table end as if nothing had been."""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("xplearn_edge")

from safetensors.torch import load_file  # noqa: E402

import xplearn  # noqa: E402
from xplearn.metrics.table import Row  # noqa: E402

SCRIPT = """
import json, os, signal, sys
import torch, xplearn
from xplearn.config import load_experiment
from xplearn.experiment import phases
from xplearn.experiment.checkpoint import Checkpoints, Progress
from xplearn.plugins import installed
from xplearn_edge import evolve, expansion
from xplearn_edge.bank import Principles

places = {
    "rollout": (phases.Recording, "add"),
    "expansion": (expansion.Expansion, "grow"),
    "pruning": (evolve, "prune"),
    "bank": (Principles, "write"),
    "optimizer step": (torch.optim.AdamW, "step"),
    "progress": (Progress, "save"),
    "checkpoint": (Checkpoints, "_save_bank"),
}

def play(mix, place, count):
    if place:
        home, name = places[place]
        act, left = getattr(home, name), [count]
        def once_more(*args, **kwargs):
            found = act(*args, **kwargs)
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found
        setattr(home, name, once_more)
    xplearn.run(mix)

mix, ended = json.loads(sys.argv[1]), []
load_experiment(mix, [], installed().registry)  # imports every part once, for all plays
for place, count in json.loads(sys.argv[2]):
    child = os.fork()
    if not child:
        play(mix, place, count)
        os._exit(0)
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(ended))
"""

KILLS = [
    ("rollout", 5), ("bank", 1), ("expansion", 1), ("optimizer step", 1), ("rollout", 40),
    ("progress", 2), ("pruning", 1), ("checkpoint", 2), ("optimizer step", 2), ("rollout", 3),
]  # fmt: skip
"""Where, and after how often, each on top of the last."""


def mix(folder):
    return {
        "stream": [{"env": {"name": "core.counting", "length": 3, "size": 8}, "rounds": 6}],
        "policy": {"name": "core.tiny", "layers": 1, "width": 32, "heads": 2, "vocabulary": 300, "context_tokens": 1024, "threads": 1},
        "record": {"name": "edge.evolve", "writer": "rules", "expand_below": 1.0, "window": 1, "prune_below": 0.0, "capacity": 8},
        "selector": {"name": "edge.retrieve", "k": 2},
        "conditioner": "core.prompt",
        "learner": {"name": "edge.distill", "group_size": 8, "lr": 3e-3, "batch": 16, "checkpoint_seconds": 0.0, "scaffold_steps": 5},
        "sampling": {"choices": "admissible", "temperature": 1.0},
        "evaluate": {"tasks": {"limit": 4, "split": "test"}, "resamples": 100},
        "run": {"dir": str(folder), "batch": 48, "seed": 1},
    }


def play(folder, *plays):
    """The run, and how the process of each play ended."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(mix(folder)), json.dumps(plays)],
        capture_output=True, text=True, check=False, timeout=800, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = folder.glob("*/run.json")
    return run.parent, json.loads(done.stdout)


def outcome(folder):
    """Everything that must not depend on kills."""
    run = xplearn.load(folder)
    last = max((run.path / "checkpoints").glob("[0-9]*"))
    rows: list[Row] = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
    episodes = sorted(json.dumps({**dataclasses.asdict(found), "seconds": 0.0}) for found in run.episodes())
    return {
        "bank": run.header.bank,
        "position": {name: value for name, value in json.loads((last / "position.json").read_text()).items() if name != "bank_version"},
        "table": rows,
        "episodes": episodes,
        "history": (run.path / "history.jsonl").read_text(),
    }


def figures(folder):
    return [{name: value for name, value in line.items() if "second" not in name} for line in xplearn.load(folder).scalars()]


def assert_close(ours, theirs):
    """Log-probabilities drawn beside other rows, as after a kill in the middle of a phase, differ in the last bits."""
    assert [sorted(line) for line in ours] == [sorted(line) for line in theirs]
    for line, other in zip(ours, theirs, strict=True):
        numbers = {name: value for name, value in line.items() if isinstance(value, float)}
        assert {name: other[name] for name in numbers} == pytest.approx(numbers, abs=1e-5)


def weights(folder):
    last = max((xplearn.load(folder).path / "checkpoints").glob("[0-9]*"))
    return load_file(last / "policy" / "weights" / "model.safetensors")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_at_ten_places_the_run_ends_with_the_same_bank_weights_and_table(tmp_path):
    whole, ended = play(tmp_path / "whole", ("", 0))
    assert ended == [0]
    cut, ended = play(tmp_path / "cut", *KILLS, ("", 0))
    assert ended == [-9] * len(KILLS) + [0], "every kill came before the end"
    expected, found = outcome(whole), outcome(cut)
    for name, value in expected.items():
        assert found[name] == value, name
    assert_close(figures(whole), figures(cut))
    ours, theirs = weights(whole), weights(cut)
    assert all(torch.allclose(theirs[name], value, atol=1e-5) for name, value in ours.items())
    events = {json.loads(line)["event"] for line in expected["history"].splitlines()}
    assert {"added", "removed", "expanded", "pruned", "utility"} <= events, "the bank grew and shrank"
    assert sum(line.get("taught", 0.0) for line in figures(whole)) > 0, "something was distilled"
