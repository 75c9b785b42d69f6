"""Small runs, tracked, stopped and gone on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import xplearn
from xplearn.builtin.toys import Counting

MIX = {
    "stream": [
        {"env": {"name": "core.counting", "length": 3, "size": 6}, "tasks": {"limit": 4}, "rounds": 2, "warmup": True, "record": True},
        {"env": {"name": "core.counting", "length": 3, "size": 6}, "tasks": {"limit": 4}, "rounds": 3},
        {"env": "core.errands", "tasks": {"limit": 2}},
    ],
    "policy": "core.random",
    "sampling": {"choices": "admissible"},
    "record": ["core.record", {"name": "core.record", "only_success": True}],
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "evaluate": {"tasks": {"limit": 4}},
}

KILLED = """
import json, os, sys
import xplearn
from xplearn.builtin.toys import Counting
step, left = Counting.step, [int(sys.argv[2])]
def dying(self, action):
    left[0] -= 1
    if not left[0]:
        os._exit(9)
    return step(self, action)
Counting.step = dying
xplearn.run(json.loads(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    """Nothing is written outside, and a server that was asked would not answer."""
    for name in [name for name in os.environ if name.startswith(("WANDB_", "TRACKIO_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def start(tmp_path):
    """Runs the mix with these trackers; says where."""

    def run(*track, **overrides):
        return xplearn.run({**MIX, "run": {"dir": str(tmp_path / "runs"), "track": list(track)}}, **overrides).folder

    return run


@pytest.fixture
def kill(tmp_path):
    """Runs the mix in a process that is gone after so many steps of counting."""

    def run(*track, steps):
        mix = {**MIX, "run": {"dir": str(tmp_path / "runs"), "track": list(track)}}
        done = subprocess.run([sys.executable, "-c", KILLED, json.dumps(mix), str(steps)], check=False, capture_output=True, text=True)
        assert done.returncode == 9, done.stderr

    return run


@pytest.fixture
def interrupt(start, monkeypatch):
    """Runs the mix until somebody presses Ctrl-C after so many steps of counting."""

    def run(*track, steps):
        step, left = Counting.step, [steps]

        def interrupting(self, action):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            return step(self, action)

        with monkeypatch.context() as patched:
            patched.setattr(Counting, "step", interrupting)
            with pytest.raises(KeyboardInterrupt):
                start(*track)

    return run


@pytest.fixture
def expected():
    """Every point that a run should have given, from its record: ``(step, name)`` to value."""
    return _expected


def _expected(folder):
    run, before = xplearn.load(folder), {0: 0, 1: 2, 2: 5}
    found, calls = {}, set()
    for line in run.scalars():
        place = line["stage"], line["round"]
        name = "core.record.2" if place in calls else "core.record"
        calls.add(place)
        found |= {(before[place[0]] + place[1] + 1, f"{name}/{figure}"): line[figure] for figure in ("written", "left_out", "bank")}
    scores = {}
    for result in run.episodes():
        scores.setdefault((result.phase, result.arm), []).append(100.0 * result.score)
    for (phase, arm), values in scores.items():
        head, number, rest = phase.split("/", 2)
        if head == "train":
            place = before[int(number)] + int(rest) + 1, f"train/{arm}"
        else:
            place = {"0": 2, "1": 5, "2": 6}[number], f"eval/{rest}/{arm}"
        found[place] = sum(values) / len(values)
    return found
