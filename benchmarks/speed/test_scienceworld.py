"""ScienceWorld gold paths: the collector beside a bare loop over the same simulator calls, and beside the upstream Python client.

Run with ``python -m pytest benchmarks/speed/test_scienceworld.py``; each line ``RATIO name: value (target t)`` is one figure.
Every contestant plays the same episodes in turn, several times over; the best time of each counts, so that a busy machine disturbs
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
LIMIT = 60.0

Scripts = list[tuple[Task, list[str]]]
Play = Callable[[], int]
"""Plays every episode once; the number of steps."""


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str, str, str], None]:
    def line(name: str, value: str, target: str) -> None:
        with capsys.disabled():
            print(f"\nRATIO {name}: {value} (target {target})", end="")

    return line


@pytest.fixture(scope="module")
def scripts() -> Scripts:
    env = ScienceWorld()
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
    pool = open_pool(EnvSpec(name="scienceworld.text"), slots=1, listing=False)
    episodes = assignments([task for task, _ in scripts], ["plain"], 1, phase="speed", scope=("speed",))

    def play() -> int:
        trajectories = list(collect(agent, pool, episodes, sampling=Sampling()))
        assert all(trajectory.success for trajectory in trajectories)
        return sum(len(trajectory.steps) for trajectory in trajectories)

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

    def play() -> int:
        for task, actions in scripts:
            simulator.call("load", task.kind, task.meta["variation"], "easy", False, limit=LIMIT)
            read("look around")
            for action in actions:
                last = read(action)
            assert last[1] == 1.0
        return sum(len(actions) for _, actions in scripts)

    yield play
    simulator.close()


@pytest.fixture
def upstream(scripts: Scripts, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PATH", os.path.dirname(install.java()) + os.pathsep + os.environ["PATH"])
    flags = "-Xmx512m -XX:+UseSerialGC -XX:+UnlockExperimentalVMOptions -XX:hashCode=2"
    monkeypatch.setenv("JDK_JAVA_OPTIONS", flags)  # the same Java and settings for both: only the clients differ
    from scienceworld import ScienceWorldEnv

    env = ScienceWorldEnv()

    def play() -> int:
        for task, actions in scripts:
            env.load(task.kind, task.meta["variation"], "easy")
            env.reset()
            for action in actions:
                _, _, _, info = env.step(action)
            assert info["score"] == 100
        return sum(len(actions) for _, actions in scripts)

    yield play
    env.close()
    env._gateway.java_process.stdout.close()


def best_rates(contestants: list[Play], rounds: int) -> list[float]:
    """Steps per second of each, from its best round; all warm up first, then take turns."""
    best = [float("inf")] * len(contestants)
    for round_ in range(rounds + 1):
        for index, play in enumerate(contestants):
            began = time.perf_counter()
            steps = play()
            if round_:
                best[index] = min(best[index], (time.perf_counter() - began) / steps)
    return [1 / seconds for seconds in best]


def test_collector_beside_a_bare_loop(collector: Play, bare: Play, say: Callable[[str, str, str], None]) -> None:
    ours, loop = best_rates([collector, bare], rounds=8)
    say("scienceworld collector / bare loop", f"{ours / loop:.3f} ({ours:.0f} and {loop:.0f} steps/s)", ">= 0.95")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_collector_beside_the_upstream_client(collector: Play, upstream: Play, say: Callable[[str, str, str], None]) -> None:
    ours, theirs = best_rates([collector, upstream], rounds=3)
    say("scienceworld collector / upstream client", f"{ours / theirs:.1f} ({ours:.0f} and {theirs:.0f} steps/s)", ">= 5")
