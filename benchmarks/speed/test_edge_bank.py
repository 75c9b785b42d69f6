"""EDGE on a bank of 10,000 principles: retrieval beside ``core.nearest``, and one step of the bank's evolution.

Run with ``python -m pytest benchmarks/speed/test_edge_bank.py``; each line ``RATIO name: value (target t)`` is one figure. Texts are
encoded by a table, so the encoder's time is in none of them.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from functools import cache, partial
from itertools import count

import numpy as np
import pytest

pytest.importorskip("xplearn_edge")

from xplearn_edge.evolve import EvolveLearner
from xplearn_edge.index import SPACES
from xplearn_edge.retrieve import RetrieveSelector

from xplearn import Encoder, Experience, Selection
from xplearn.builtin.nearest import NearestSelector
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.agents import FakeAgent

DIM = 384
SIZE = 10_000
TASKS, GROUP, SHOWN, LENGTH = 16, 8, 6, 30
"""A round as in the paper: tasks, trajectories of each, principles shown, and steps."""


@cache
def drawn(text: str):
    row = np.random.default_rng(list(text.encode())).normal(size=DIM).astype(np.float32)
    return row / np.linalg.norm(row)


@dataclasses.dataclass(kw_only=True)
class Table(Encoder):
    """A random direction for each text, drawn when first seen."""

    @property
    def id(self):
        return f"table/{DIM}"

    @property
    def dim(self):
        return DIM

    def encode(self, texts):
        return np.stack([drawn(text) for text in texts])


def principle(number: int, pool: str) -> Experience:
    return Experience(
        id=f"principle/{pool}/{number}",
        kind="principle",
        key=f"{pool} {number}",
        content=f"When object {number} is in reach: take it first.",
        source=f"train/task-{number % 500}/plain/0",
        task=f"task-{number % 500}",
        task_kind=samples.KINDS[number % 3],
        outcome=1.0,
        utility=(number % 31 - 9) / 100,
        uses=number % 23,
        meta={"pool": pool, "writer": "rules", "made_at": 1, "negative": 0, "shown_at": 0},
    )


@pytest.fixture
def agent(tmp_path):
    with FakeAgent(encoder=Table(), store=SqliteStore(path=str(tmp_path / "bank.sqlite"))) as agent:
        yield agent


def fill(agent, *pools: str) -> None:
    """So many principles in each of the pools."""
    for pool in pools:
        space = SPACES[pool]
        agent.store.open_space(space, encoder=agent.encoder.id, dim=DIM)
        entries = [principle(number, pool) for number in range(SIZE)]
        agent.store.add(entries, {space: agent.encoder.encode([entry.key for entry in entries])})


def seconds(call) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def in_turn(ours, theirs, rounds: int = 31) -> tuple[float, float]:
    """Seconds of both, the best of some rounds: what the machine's other work disturbed least."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def asked(width: int):
    """Queries of ``width`` tasks, each the source of 20 principles of each pool."""
    found = [samples.query(number, steps=3) for number in range(width)]
    return [dataclasses.replace(query, task=dataclasses.replace(query.task, id=f"task-{n}")) for n, query in enumerate(found)]


@pytest.mark.parametrize("pools", ["task", "both"])
@pytest.mark.parametrize("width", [1, 64])
def test_retrieval_beside_nearest(benchmark, say, agent, pools, width):
    fill(agent, "task", "step")
    ours, nearest = RetrieveSelector(k=SHOWN, pools=pools), NearestSelector(k=SHOWN)
    for selector in (ours, nearest):
        selector.setup(agent)
    queries = asked(width)
    nearest.select(queries, agent.store)
    first = seconds(lambda: ours.select(queries, agent.store))
    mine, other = in_turn(lambda: ours.select(queries, agent.store), lambda: nearest.select(queries, agent.store))
    benchmark.pedantic(ours.select, args=(queries, agent.store), rounds=10)
    name = f"retrieve, {'a pool' if pools == 'task' else 'two pools'} of {SIZE}, {width} quer{'y' if width == 1 else 'ies'}"
    say(name, f"{mine / other:.2f} of core.nearest, {mine * 1e3:.2f} ms", "1.15" if pools == "task" else "2.3")
    say(f"{name}, first after a change of the bank", f"{first * 1e3:.0f} ms", "none")


def round_of_trajectories(at: int):
    """Round ``at``: both arms, half of them solved; those with experience were shown principles of the bank."""
    bank = [principle(number, "task") for number in range(TASKS * SHOWN)]
    for number in range(at * TASKS, (at + 1) * TASKS):
        first = number % TASKS * SHOWN
        shown = Selection(experiences=tuple(bank[first : first + SHOWN]), scores=(0.5,) * SHOWN)
        for replica in range(GROUP):
            played = samples.trajectory(number, length=LENGTH, arm="experience" if replica % 2 else "plain")
            seen = shown if played.arm == "experience" else Selection()
            steps = tuple(dataclasses.replace(step, selection=seen) for step in played.steps)
            solved = {"score": float(replica < GROUP // 2), "success": replica < GROUP // 2, "source": "rollout"}
            yield dataclasses.replace(played, id=f"{played.id}/{replica}", steps=steps, **solved)


def test_a_step_of_evolution(benchmark, say, agent):
    fill(agent, "task")
    learner = EvolveLearner(writer="rules", window=5, capacity=SIZE, expand_below=1.0, other_policy="adopt")
    learner.setup(agent)
    rounds = (list(round_of_trajectories(at)) for at in count())
    first = seconds(partial(learner.learn, next(rounds), agent))
    steps = [seconds(partial(learner.learn, next(rounds), agent)) for _ in range(20)]
    assert len(agent.store) == SIZE
    assert {line["event"] for line in agent.journal.lines} >= {"expanded", "utility"}
    benchmark.pedantic(learner.learn, setup=lambda: ((next(rounds), agent), {}), rounds=5)
    say(f"edge.evolve, a step on {SIZE}", f"{statistics.median(steps) * 1e3:.0f} ms, the best {min(steps) * 1e3:.0f} ms", "under 50 ms")
    say(f"edge.evolve, the first step on {SIZE}, bank read", f"{first * 1e3:.0f} ms", "none")
