"""Killed with SIGKILL again and again, the same command ends with the table of an undisturbed run."""

import dataclasses
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from xplearn.record.reader import load

SCRIPT = """
import json, os, signal, sys
from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.testing.dial import DialPolicy, dial_plugins

mix, lasts = json.loads(sys.argv[1]), json.loads(sys.argv[2])
folder, generate, fsync, moments = mix["run"]["dir"], DialPolicy.generate, os.fsync, [0]

def moment(act=None, *args, **kwargs):
    moments[0] += 1
    if moments[0] == lasts[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return act(*args, **kwargs) if act else None

DialPolicy.generate = lambda *args, **kwargs: moment(generate, *args, **kwargs)
os.fsync = lambda file: moment(fsync, file)
touching = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
sys.addaudithook(lambda event, args: moment() if event in touching and str(args[0]).startswith(folder) else None)
plugins = dial_plugins()
experiment, given = load_experiment(mix, [], plugins.registry)  # imports every part once, for all plays
while lasts:
    moments[0], child = 0, os.fork()
    if not child:
        print(run_experiment(experiment, plugins=plugins, given=given).folder, moments[0], sep="\\n", flush=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (-signal.SIGKILL if lasts.pop(0) else 0)
"""
"""Counts the moments in which a run may be cut: before it acts, and before it opens, renames, removes or secures a file of its own."""

MIX = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 6}, "rounds": 2}, {"env": "core.counting", "tasks": {"limit": 6}}],
    "policy": "dial.policy",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "replay": {"ratio": 1.0},
    "evaluate": {"tasks": {"limit": 6, "split": "test"}, "resamples": 200, "replicas": 2},
}


TURN = {"name": "dial.turn"}
CASES = {
    **{source: {"learner": {**TURN, "source": source}} for source in ("rollout", "demonstration", "both")},
    "rounds of some tasks": {
        "learner": TURN,
        "stream": [{"env": "core.errands", "tasks": {"limit": 6}, "rounds": 4, "per_round": 4}, *MIX["stream"][1:]],
    },
}


KILLS = 5


def play(folder, case, *lasts):
    """The run, and how many moments it had, once it was killed in the last moment of each of some plays and then played to its end."""
    mix = {**MIX, **CASES[case], "run": {"dir": str(folder), "batch": 3}}
    command = [sys.executable, "-c", SCRIPT, json.dumps(mix), json.dumps([*lasts, 0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    path, moments = done.stdout.splitlines()
    return load(Path(path)), int(moments)


def outcome(run):
    """Everything that must not depend on the kills."""
    episodes = sorted(json.dumps(dataclasses.asdict(dataclasses.replace(found, seconds=0.0))) for found in run.episodes())
    table = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
    return table, episodes, run.header.bank, run.scalars(), (run.path / "history.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_killed_five_times_a_run_ends_with_the_same_table(tmp_path, case):
    whole, moments = play(tmp_path / "whole", case)
    draw = random.Random(case)
    cut, _ = play(tmp_path / "cut", case, *(draw.randint(1, moments // KILLS) for _ in range(KILLS)))
    assert outcome(cut) == outcome(whole)
    assert cut.header.status == "finished"
    ids = [found.id for found in cut.episodes()]
    assert len(ids) == len(set(ids))
    assert len(cut.calls()) == len(whole.calls()) == len(whole.scalars())
