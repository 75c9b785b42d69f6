"""Killed with SIGKILL again and again, the same command ends with the table of an undisturbed run."""

import dataclasses
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xplearn.record.reader import load

SCRIPT = """
import json, sys
from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.testing.dial import dial_plugins
plugins = dial_plugins()
experiment, given = load_experiment(json.loads(sys.argv[1]), [], plugins.registry)
print(run_experiment(experiment, plugins=plugins, given=given).folder)
"""

MIX = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 6}, "rounds": 2}, {"env": "core.counting", "tasks": {"limit": 6}}],
    "policy": {"name": "dial.policy", "milliseconds": 2.0},
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "replay": {"ratio": 1.0},
    "evaluate": {"tasks": {"limit": 6, "split": "test"}, "resamples": 200, "replicas": 2},
}


TURN = {"name": "dial.turn", "milliseconds": 10.0}
CASES = {
    **{source: {"learner": {**TURN, "source": source}} for source in ("rollout", "demonstration", "both")},
    "rounds of some tasks": {
        "learner": TURN,
        "stream": [{"env": "core.errands", "tasks": {"limit": 6}, "rounds": 4, "per_round": 4}, *MIX["stream"][1:]],
    },
}


def command(folder, case):
    mix = {**MIX, **CASES[case], "run": {"dir": str(folder), "batch": 3}}
    return [sys.executable, "-c", SCRIPT, json.dumps(mix)]


def finish(folder, case):
    done = subprocess.run(command(folder, case), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return load(Path(done.stdout.strip()))


def kill_after(folder, case, seconds):
    """Start the run, let it record for a while, and kill it; whether it was alive."""
    process = subprocess.Popen(command(folder, case), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while process.poll() is None and not list(folder.glob("*/lock")) and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(seconds)
    alive = process.poll() is None
    process.kill()  # nothing, where it has ended already
    _, errors = process.communicate()
    assert alive or process.returncode == 0, errors.decode()
    return alive


def outcome(run):
    """Everything that must not depend on the kills."""
    episodes = sorted(json.dumps(dataclasses.asdict(dataclasses.replace(found, seconds=0.0))) for found in run.episodes())
    table = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
    return table, episodes, run.header.bank, run.scalars(), (run.path / "history.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_killed_five_times_a_run_ends_with_the_same_table(tmp_path, case):
    began = time.monotonic()
    whole = finish(tmp_path / "whole", case)
    length = time.monotonic() - began
    moments = random.Random(f"{case} 1")
    kills = [kill_after(tmp_path / "cut", case, moments.uniform(0.0, 0.4 * length)) for _ in range(5)]
    assert sum(kills) >= 3, "the kills came too late to prove anything"
    cut = finish(tmp_path / "cut", case)
    assert outcome(cut) == outcome(whole)
    assert cut.header.status == "finished"
    ids = [found.id for found in cut.episodes()]
    assert len(ids) == len(set(ids))
    assert len(cut.calls()) == len(whole.calls()) == len(whole.scalars())
