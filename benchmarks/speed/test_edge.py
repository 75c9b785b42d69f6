"""An EDGE update of SmolLM2 beside a GRPO update on as many rollouts: both arms and the teacher against one arm and none.

Whole conversations in both, the teacher's prompts with a block of experience at their head. The two take turns in one process, on the
very same students; what experience adds to the rollouts' own prompts is part of what EDGE costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from xplearn_edge.distill import DistillLearner  # noqa: E402

import xplearn  # noqa: E402
from xplearn import Experience, Query, Sampling, Step, Task, Trajectory  # noqa: E402
from xplearn.learning.grpo import GrpoLearner  # noqa: E402
from xplearn.policies.hf import HfPolicy  # noqa: E402
from xplearn.policies.weights import LoraConfig  # noqa: E402
from xplearn.seeding import derive  # noqa: E402
from xplearn.testing.agents import FakeAgent, FakeCheckpoint  # noqa: E402
from xplearn.testing.conversations import observation  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.weights]

GROUPS, GROUP, TURNS, ROUNDS = 2, 8, 3, 2
SAMPLING = Sampling(max_new_tokens=12, temperature=1.0)
ADVICE = "When the task is to put something hot on a table: find it, heat it in the microwave, then carry it over; do not look twice."


def played(agent: FakeAgent, number: int, arm: Any, replica: int) -> Trajectory:
    """A conversation that the policy really has; with experience it scores more."""
    task = Task(id=str(number), env="toy", split="train", goal=f"tidy room {number}")
    messages: tuple[Any, ...] = ({"role": "user", "content": f"Task: {task.goal}\n\n{observation(number, 0)}"},)
    steps = []
    for turn in range(TURNS):
        query = Query(purpose="act", task=task, messages=messages, index=turn)
        (selection,), (conditioning,) = agent.condition([query], [arm], [steps[0].selection if steps else None])
        (said,) = agent.policy.generate([conditioning], SAMPLING, [derive(0, number, arm, replica, turn)])
        steps.append(
            Step(query=query, selection=selection, conditioning=conditioning, completion=said, action=said.text, reward=0.0,
                 terminated=False, truncated=False, valid=True)
        )  # fmt: skip
        seen = {"role": "user", "content": observation(number, turn + 1)}
        messages = (*messages, {"role": "assistant", "content": said.text}, seen)
    score = (replica % 4) / 8 + (arm == "experience") / 2
    return Trajectory(
        id=f"{number}/{arm}/{replica}", task=task, steps=tuple(steps), arm=arm, group=str(number), seed=0, source="rollout", score=score
    )


def timed(learner: GrpoLearner, batch: list[Trajectory], agent: FakeAgent) -> tuple[float, float]:
    """Seconds and processor seconds of an update."""
    agent.checkpoint = FakeCheckpoint()
    began = time.perf_counter(), time.process_time()
    figures = learner.learn(batch, agent)
    assert figures["steps"] == 1
    return time.perf_counter() - began[0], time.process_time() - began[1]


@pytest.mark.timeout(3600)
def test_edge_update(say: Callable[[str, str, str], None]) -> None:
    parts = {"conditioner": xplearn.make("conditioner", "core.prompt"), "selector": xplearn.make("selector", "core.all")}
    policy = HfPolicy(model="smollm2", lora=LoraConfig(rank=8))
    with FakeAgent(policy=policy, **parts) as agent:
        agent.store.add([Experience(id=str(n), kind="principle", key="k", content=ADVICE, task="another") for n in range(2)])
        half = range(GROUP // 2)
        both = [played(agent, n, arm, r) for n in range(GROUPS) for arm in ("experience", "plain") for r in half]
        plain = [item for item in both if item.arm == "plain"]
        plain += [replace(played(agent, n, "plain", r + GROUP), score=r / 8) for n in range(GROUPS) for r in half]
        learners = {"grpo": GrpoLearner(arms="plain", group_size=GROUP, beta=0.0)}
        learners |= {rkl: DistillLearner(group_size=GROUP, rkl=rkl) for rkl in ("sampled", "teacher_topk")}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in learners}
        for _ in range(ROUNDS + 1):  # the first warms up
            for name, learner in learners.items():
                times[name].append(timed(learner, plain if name == "grpo" else both, agent))
    medians = {name: [median(column) for column in zip(*found[1:], strict=True)] for name, found in times.items()}
    for name in ("sampled", "teacher_topk"):
        wall, processor = (ours / theirs for ours, theirs in zip(medians[name], medians["grpo"], strict=True))
        target = "<= 1.6" if name == "sampled" else "none"
        say(f"EDGE update ({name}) / GRPO update, {GROUPS} x {GROUP} x {TURNS} turns", f"{wall:.2f} ({medians[name][0]:.2f} s)", target)
        say(f"the same by processor time ({name})", f"{processor:.2f}", target)
