"""ALFWorld: a step of the native engine, beside the same step of TextWorld, and generated houses.

Run with ``python -m pytest benchmarks/speed/test_alfworld.py``; each line ``RATIO name: value (target t)`` is one figure. A step includes
the list of admissible actions. Both engines play the same random actions in the same games; processor time is measured, and the best of
each game counts, so that a busy machine disturbs the figures little. The comparison needs ``xplearn-alfworld[textworld]``, as under
``tox run -e speed`` and ``-e textworld``.
"""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

pytest.importorskip("xplearn_alfworld")

from xplearn_alfworld.environment import AlfWorld
from xplearn_alfworld.houses import generate
from xplearn_alfworld.oracle import plan
from xplearn_alfworld.rooms import layout
from xplearn_alfworld.textworld import EXTRA, TextWorldAlfWorld

from xplearn.types import Task

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

GAMES = 30
COMPARED = 6
STEPS = 40
HOUSES = 1000
SEED = 0
ORIGINAL = importlib.util.find_spec("textworld") is not None and importlib.util.find_spec("alfworld") is not None

Say = Callable[[str, str, str], None]
Scripts = Sequence[tuple[Task, list[str]]]


@pytest.fixture(scope="module")
def native() -> AlfWorld:
    return AlfWorld(faithful=True, max_steps=STEPS + 1, games=GAMES)


@pytest.fixture(scope="module")
def scripts(native: AlfWorld) -> Scripts:
    """Random admissible actions for every game, up to ``STEPS`` of them or the goal."""
    return [(task, wander(native, task, random.Random(number))) for number, task in enumerate(native.tasks("train"))]


def wander(env: AlfWorld, task: Task, draws: random.Random) -> list[str]:
    env.reset(task, seed=SEED)
    actions = []
    for _ in range(STEPS):
        actions.append(draws.choice(env.admissible()))
        if env.step(actions[-1]).terminated:
            break
    return actions


def step_ms(env: AlfWorld, scripts: Scripts, rounds: int) -> float:
    """Mean processor time of a step in milliseconds, over the best time of each game."""
    best = [float("inf")] * len(scripts)
    for _ in range(rounds):
        for number, (task, actions) in enumerate(scripts):
            env.reset(replace(task, env=env.NAME), seed=SEED)
            began = time.process_time()
            for action in actions:
                assert env.step(action).observation.actions is not None
            best[number] = min(best[number], time.process_time() - began)
    return 1000 * sum(best) / sum(len(actions) for _, actions in scripts)


def test_a_step_with_its_list_of_actions(native: AlfWorld, scripts: Scripts, say: Say) -> None:
    say("alfworld step with admissible actions", f"{step_ms(native, scripts, rounds=10):.4f} ms", "<= 0.25 ms")


@pytest.mark.skipif(not ORIGINAL, reason=f"needs the original engine: {EXTRA}, or tox run -e speed")
def test_a_step_beside_textworld(native: AlfWorld, scripts: Scripts, say: Say) -> None:
    original = TextWorldAlfWorld(faithful=True, max_steps=STEPS + 1, games=GAMES)
    ours, theirs = (step_ms(env, scripts[:COMPARED], rounds=3) for env in (native, original))
    original.close()
    say("alfworld textworld step / native step", f"{theirs / ours:.0f} ({theirs:.1f} and {ours:.4f} ms)", ">= 50")


def test_generated_houses(say: Say) -> None:
    layout.cache_clear()
    began = time.perf_counter()
    for index in range(HOUSES):
        generate(SEED, "train", index)
    say(f"alfworld {HOUSES} generated houses", f"{time.perf_counter() - began:.2f} s", "<= 10 s")


def test_generated_houses_with_the_oracle_s_way(native: AlfWorld, say: Say) -> None:
    began = time.perf_counter()
    for index in range(HOUSES):
        problem, sentence = generate(SEED, "train", index)
        assert plan(native.engine(problem, sentence))
    say(f"alfworld {HOUSES} generated houses, loaded and solved", f"{time.perf_counter() - began:.2f} s", "<= 10 s")
