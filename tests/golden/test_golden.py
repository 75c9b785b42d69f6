"""Golden traces: a silent change of what a run does or writes becomes a diff."""

import dataclasses
from pathlib import Path

from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.record.formats import dump_trajectory, load_trajectory
from xplearn.record.reader import load
from xplearn.seeding import derive
from xplearn.testing.dial import dial_plugins
from xplearn.testing.samples import trajectory
from xplearn.testing.trace import Trace

HERE = Path(__file__).parent

MIX = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 4}}, {"env": "core.counting", "tasks": {"limit": 4}, "rounds": 2}],
    "policy": "dial.policy",
    "store": "core.memory",
    "selector": "core.bm25",
    "conditioner": "core.prompt",
    "record": "core.record",
    "curriculum": {"name": "core.random", "k": 3},
    "replay": {"ratio": 1.0},
    "learner": {"name": "dial.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 3, "split": "test"}, "resamples": 200},
}


def test_a_small_run_does_what_it_always_did(tmp_path):
    plugins = dial_plugins()
    experiment, given = load_experiment({**MIX, "run": {"dir": str(tmp_path)}}, [], plugins.registry)
    run = load(run_experiment(experiment, plugins=plugins, given=given).folder)
    trace = Trace()
    for phase in run.phases():
        for found in sorted(run.trajectories(phase), key=lambda found: found.id):
            trace.add("trajectory", found.id, dataclasses.replace(found, seconds=0.0))
    for line in run.scalars():
        trace.add("learn", f"{line['learner']}/{line['stage']}/{line['round']}", line)
    for row in run.table().rows:
        trace.add("row", f"{row.label}/{row.domain}", dataclasses.replace(row, seconds=0.0))
    trace.check(HERE / "toy_run.trace")


def test_keys_give_the_seeds_they_always_gave():
    assert derive(0, "env", "eval", "core.counting", "test/0", 0) == 6822463729831825341
    assert derive(7, "sample", 1) != derive(7, "sample", "1")


def test_a_trajectory_line_of_format_1_still_reads_and_writes_the_same():
    line = (HERE / "trajectory.jsonl").read_text().strip()
    assert load_trajectory(line) == trajectory(1)
    assert dump_trajectory(trajectory(1)) == line
