"""The evaluator beside a bare for-loop: what selection, conditioning, lock step and the record cost per episode.

Run with ``python -m pytest benchmarks/speed/test_overhead.py``; the line ``RATIO name: value (target t)`` is the figure.
"""

from __future__ import annotations

import statistics
import time

import pytest

from xplearn.builtin.toys import Counting
from xplearn.config import load_experiment
from xplearn.experiment.evaluate import evaluate
from xplearn.experiment.observer import Silent
from xplearn.experiment.opening import open_run
from xplearn.plugins import installed
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.record.folder import RunFolder
from xplearn.types import Conditioning, Sampling

TASKS, TURNS, ROUNDS = 200, 10, 9
LINES = [str(number) for number in range(1, TURNS + 1)]
SAMPLING = Sampling(temperature=0.0)

MIX = {
    "stream": [{"env": {"name": "core.counting", "size": TASKS, "length": TURNS}}],
    "policy": {"name": "core.scripted", "lines": LINES},
    "store": "core.memory",
    "evaluate": {"arms": ["plain"], "tasks": {"split": "test"}},
}


def bare_loop() -> float:
    """Seconds per episode of the shortest program that plays them."""
    env, policy = Counting(size=TASKS, length=TURNS), ScriptedPolicy(lines=LINES)
    env.listing = False
    scores = []
    began = time.perf_counter()
    for task in env.tasks("test"):
        observation = env.reset(task, seed=0)
        messages = env.opening(task, observation)
        done = False
        while not done:
            (completion,) = policy.generate([Conditioning(messages=messages)], SAMPLING, [0])
            outcome = env.step(env.parse(completion.text))
            said, seen = {"role": "assistant", "content": completion.text}, {"role": "user", "content": outcome.observation.text}
            messages = (*messages, said, seen)
            done = outcome.terminated or outcome.truncated
        scores.append(outcome.info["score"])
    return (time.perf_counter() - began) / len(scores)


def evaluator(folder) -> float:
    """Seconds per episode of the whole evaluation, every line written."""
    plugins = installed()
    experiment, given = load_experiment({**MIX, "run": {"dir": str(folder)}}, [], plugins.registry)
    with open_run(experiment, plugins, given, RunFolder(folder), Silent()) as run:
        began = time.perf_counter()
        evaluate(run, 0)
        spent = time.perf_counter() - began
        assert len(run.writer.done("eval/0/core.counting")) == TASKS
    return spent / TASKS


@pytest.mark.benchmark(group="overhead")
def test_evaluator_costs_at_most_two_milliseconds_an_episode(tmp_path, capsys):
    bare_loop(), evaluator(tmp_path / "warm")
    bare, ours = zip(*((bare_loop(), evaluator(tmp_path / str(number))) for number in range(ROUNDS)), strict=True)
    overhead = 1000.0 * statistics.median(b - a for a, b in zip(bare, ours, strict=True))
    with capsys.disabled():
        print(
            f"\nRATIO evaluator overhead, ms an episode of {TURNS} steps: {overhead:.3f} (target 2); "
            f"bare loop {1000 * statistics.median(bare):.3f}, evaluator {1000 * statistics.median(ours):.3f}"
        )
