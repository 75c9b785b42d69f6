"""200 tasks of counting, 10 turns each, and a policy that knows the lines: played by a bare loop, and by the evaluator."""

from __future__ import annotations

import time
from pathlib import Path

from xplearn.builtin.toys import Counting
from xplearn.config import load_experiment
from xplearn.experiment.evaluate import evaluate
from xplearn.experiment.observer import Silent
from xplearn.experiment.opening import open_run
from xplearn.plugins import installed
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.record.folder import RunFolder
from xplearn.types import Conditioning, Sampling

TASKS, TURNS = 200, 10
LINES = [str(number) for number in range(1, TURNS + 1)]
PHASE = "eval/0/core.counting"
SAMPLING = Sampling(temperature=0.0)

MIX = {
    "stream": [{"env": {"name": "core.counting", "size": TASKS, "length": TURNS}}],
    "policy": {"name": "core.scripted", "lines": LINES},
    "store": "core.memory",
    "evaluate": {"arms": ["plain"], "tasks": {"split": "test"}},
}


def world() -> Counting:
    """The toy, without its list of admissible actions: nobody here uses it."""
    env = Counting(size=TASKS, length=TURNS)
    env.listing = False
    return env


def bare_loop() -> float:
    """Seconds per episode of the shortest program that plays them."""
    env, policy = world(), ScriptedPolicy(lines=LINES)
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


def evaluator(folder: Path) -> float:
    """Seconds per episode of the whole evaluation, every line written."""
    plugins = installed()
    experiment, given = load_experiment({**MIX, "run": {"dir": str(folder)}}, [], plugins.registry)
    with open_run(experiment, plugins, given, RunFolder(folder), Silent()) as run:
        began = time.perf_counter()
        evaluate(run, 0)
        spent = time.perf_counter() - began
        assert len(run.writer.done(PHASE)) == TASKS
    return spent / TASKS
