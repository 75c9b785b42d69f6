"""A run that shares its work, killed at any moment, goes on and ends as one that was neither killed nor shares; so do those after it."""

import dataclasses
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from xplearn.record.reader import load

SCRIPT = """
import contextlib, json, os, pathlib, signal, sys
from xplearn.config import load_experiment
from xplearn.experiment.context import Context
from xplearn.experiment.run import run_experiment
from xplearn.experiment.shared import Shared
from xplearn.experiment.shared.calls import Call
from xplearn.testing.dial import dial_plugins

mix, shared, place = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
replace, fill, checkpoint, seen = pathlib.Path.replace, Call._fill, Context.checkpoint, []

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def replacing(self, target):
    seen.append(target) if self.parent.name == "drafts" else None
    return die() if len(seen) == 20 else replace(self, target)

def filling(self, folder, *rest):
    fill(self, folder, *rest)
    (folder / "made.json").write_text("{")
    die()

def checkpointing(self, *rest, **more):
    return die() if self.taken["learner calls"] else checkpoint(self, *rest, **more)

if place == "an episode half left": pathlib.Path.replace = replacing
if place == "a call half left": Call._fill = filling
if place == "a call taken and no checkpoint yet": Context.checkpoint = checkpointing
plugins = dial_plugins()
experiment, given = load_experiment(mix, [], plugins.registry)
memo = Shared(pathlib.Path(shared)) if shared else None
print(run_experiment(experiment, plugins=plugins, given=given, shared=memo).folder)
"""
MIX = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 4}, "rounds": 2}, {"env": "core.counting", "tasks": {"limit": 4}}],
    "policy": "dial.policy",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": {"name": "dial.turn"},
    "evaluate": {"tasks": {"limit": 4, "split": "test"}, "resamples": 100},
}


def run(folder, shared="", place="", **changes):
    """The run that a process carries out, or None where it was killed."""
    mix = {**MIX, **changes, "run": {"dir": str(folder), "batch": 3}}
    command = [sys.executable, "-c", SCRIPT, json.dumps(mix), str(shared), place]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == (-9 if place else 0), done.stderr
    return None if place else load(Path(done.stdout.strip()))


def outcome(run):
    episodes = sorted(json.dumps(dataclasses.asdict(dataclasses.replace(found, seconds=0.0))) for found in run.episodes())
    table = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
    return table, episodes, run.header.bank, run.scalars(), (run.path / "history.jsonl").read_text()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("place", ["an episode half left", "a call half left"])
def test_killed_while_it_leaves_something_a_run_and_those_after_it_end_the_same(tmp_path, whole, place):
    run(tmp_path / "cut", tmp_path / "shared", place)
    assert list((tmp_path / "shared" / "drafts").iterdir())
    assert outcome(run(tmp_path / "cut", tmp_path / "shared")) == outcome(whole)
    assert outcome(run(tmp_path / "next", tmp_path / "shared")) == outcome(whole)


def test_killed_before_the_checkpoint_of_what_it_took_over_a_run_takes_it_over_again(tmp_path, whole):
    run(tmp_path / "first", tmp_path / "shared")
    for _ in range(2):
        run(tmp_path / "cut", tmp_path / "shared", "a call taken and no checkpoint yet")
    assert outcome(run(tmp_path / "cut", tmp_path / "shared")) == outcome(whole)


def test_runs_at_the_same_step_wait_for_one_to_take_it(tmp_path):
    slow = {"learner": {"name": "dial.turn", "milliseconds": 100.0}}
    found = []
    threads = [threading.Thread(target=lambda name=name: found.append(run(tmp_path / name, tmp_path / "shared", **slow))) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = [[call.seconds for call in run.calls() if call.name == "dial.turn"] for run in found]
    assert seconds[0] == seconds[1] == seconds[2]
    assert outcome(found[0]) == outcome(found[1]) == outcome(found[2])
