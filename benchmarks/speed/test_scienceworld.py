"""ScienceWorld gold paths: the collector beside a bare loop over the same simulator calls, and beside the upstream Python client.

Run with ``python -m pytest benchmarks/speed/test_scienceworld.py``; each line ``RATIO name: value (target t)`` is one figure.
The contestants take turns at the same episodes, many times over; the best time of each episode counts, so that a busy machine disturbs
the ratio little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("xplearn_scienceworld")

from xplearn_scienceworld import install
from xplearn_scienceworld.environment import ScienceWorld
from xplearn_scienceworld.jvm import Launch, Simulator

from xplearn.agent import Agent
from xplearn.builtin.conditioners import NoneConditioner
from xplearn.builtin.selectors import NoneSelector
from xplearn.encoders.hashing import HashingEncoder
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.rollout.collector import assignments, collect
from xplearn.rollout.pool import open_pool
from xplearn.schema import EnvSpec
from xplearn.stores.memory import MemoryStore
from xplearn.types import Sampling, Task

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

TASKS = ("boil/0", "find-living-thing/0", "grow-plant/0", "chemistry-mix/0", "use-thermometer/0", "lifespan-longest-lived/0")
SIMPLIFICATIONS = ""
"""None, as is upstream's default: the full space of actions."""
LIMIT = 60.0

Scripts = list[tuple[Task, list[str]]]
Play = Callable[[int], int]
"""Plays one episode; the number of steps."""


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    env = ScienceWorld(simplifications=SIMPLIFICATIONS)
    env.listing = False
    tasks = {task.id: task for task in env.tasks("train")}
    played = [(tasks[id], [step.action for step in env.demonstrate(tasks[id], seed=0).steps]) for id in TASKS]
    env.close()
    return played


@pytest.fixture
def collector(scripts: Scripts) -> Any:
    lines = {task.goal: actions for task, actions in scripts}
    policy, encoder, store = ScriptedPolicy(scripts=lines), HashingEncoder(), MemoryStore()
    agent = Agent(policy=policy, encoder=encoder, store=store, selector=NoneSelector(), conditioner=NoneConditioner())
    agent.setup()
    pool = open_pool(EnvSpec(name="scienceworld.text", fields={"simplifications": SIMPLIFICATIONS}), slots=1, listing=False)
    episodes = assignments([task for task, _ in scripts], ["plain"], 1, phase="speed", scope=("speed",))

    def play(number: int) -> int:
        (trajectory,) = collect(agent, pool, episodes[number : number + 1], sampling=Sampling())
        assert trajectory.success
        return len(trajectory.steps)

    yield play
    pool.close()
    agent.close()


@pytest.fixture
def bare(scripts: Scripts) -> Any:
    simulator = Simulator(Launch())

    def read(line: str) -> tuple[Any, ...]:
        return (
            simulator.call("step", line, limit=LIMIT),
            simulator.call("getScore", limit=LIMIT),
            simulator.call("getCompleted", limit=LIMIT),
            simulator.call("getNumMoves", limit=LIMIT),
        )

    def play(number: int) -> int:
        task, actions = scripts[number]
        simulator.call("load", task.kind, task.meta["variation"], SIMPLIFICATIONS, False, limit=LIMIT)
        read("look around")
        for action in actions:
            last = read(action)
        assert last[1] == 1.0
        return len(actions)

    yield play
    simulator.close()


@pytest.fixture
def upstream(scripts: Scripts, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PATH", os.path.dirname(install.java()) + os.pathsep + os.environ["PATH"])
    flags = "-Xmx512m -XX:+UseSerialGC -XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
    monkeypatch.setenv("JDK_JAVA_OPTIONS", flags)  # the same Java and settings for both: only the clients differ
    from scienceworld import ScienceWorldEnv

    env = ScienceWorldEnv()

    def play(number: int) -> int:
        task, actions = scripts[number]
        env.load(task.kind, task.meta["variation"], SIMPLIFICATIONS)
        env.reset()
        for action in actions:
            _, _, _, info = env.step(action)
        assert info["score"] == 100
        return len(actions)

    yield play
    env.close()
    env._gateway.java_process.stdout.close()


def best_rates(contestants: list[Play], rounds: int) -> list[float]:
    """Steps per second of each, over its best time for each episode. One round more warms everybody up."""
    best = [[float("inf")] * len(TASKS) for _ in contestants]
    steps = [0] * len(TASKS)
    for round_ in range(rounds + 1):
        for number in range(len(TASKS)):
            for play, times in zip(contestants, best, strict=True):
                began = time.perf_counter()
                steps[number] = play(number)
                if round_:
                    times[number] = min(times[number], time.perf_counter() - began)
    return [sum(steps) / sum(times) for times in best]


def test_collector_beside_a_bare_loop(collector: Play, bare: Play, say: Callable[[str, str, str], None]) -> None:
    ours, loop = best_rates([collector, bare], rounds=20)
    say("scienceworld collector / bare loop", f"{ours / loop:.3f} ({ours:.0f} and {loop:.0f} steps/s)", ">= 0.95")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_collector_beside_the_upstream_client(collector: Play, upstream: Play, say: Callable[[str, str, str], None]) -> None:
    ours, theirs = best_rates([collector, upstream], rounds=5)
    say("scienceworld collector / upstream client", f"{ours / theirs:.1f} ({ours:.0f} and {theirs:.0f} steps/s)", ">= 5")
