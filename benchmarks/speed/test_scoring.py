"""Log-probabilities of a 20-step trajectory: one packed sequence beside one row a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from xplearn.policies.hf import HfPolicy
from xplearn.testing.conversations import answered, conditioning, opening
from xplearn.types import Completion, Conditioning

pytestmark = [pytest.mark.slow, pytest.mark.weights]

STEPS, TARGET = 20, 8.0
ACTIONS = ["go to kitchen", "open fridge", "pick up glass cup", "look around", "focus on orange", "put orange in glass cup"]


@pytest.fixture(scope="module")
def steps(policy: HfPolicy) -> tuple[list[Conditioning], list[Completion]]:
    messages, shown, said = opening(0), [], []
    for step in range(STEPS):
        action = ACTIONS[step % len(ACTIONS)]
        shown.append(conditioning(messages))
        said.append(action)
        messages = answered(messages, action, 0, step + 1)
    return shown, policy.transcribe(shown, said)


def timed(score: Callable[[], list[torch.Tensor]]) -> tuple[list[torch.Tensor], float]:
    started = time.perf_counter()
    with torch.no_grad():
        return score(), time.perf_counter() - started


@pytest.mark.timeout(3600)
def test_packed_scoring(policy: HfPolicy, steps: tuple[list[Conditioning], list[Completion]], benchmark: Any, capsys: Any) -> None:
    def packed() -> list[torch.Tensor]:
        scores = policy.score(*steps)
        return [row[mask] for row, mask in zip(scores.logprobs, scores.mask, strict=True)]

    def one_row_a_step() -> list[torch.Tensor]:
        return [policy.score([shown], [said]).logprobs[0] for shown, said in zip(*steps, strict=True)]

    packed()
    apart, apart_seconds = timed(one_row_a_step)
    together = benchmark.pedantic(lambda: timed(packed)[0], rounds=3)
    seconds = benchmark.stats.stats.min
    worst = max(float((one - other).abs().max()) for one, other in zip(together, apart, strict=True))
    assert worst < 1e-4
    with capsys.disabled():
        tokens = len(steps[1][-1].prompt_ids)
        print(f"\n{STEPS} steps, {tokens} tokens at the end, differ by {worst:.1e}")
        print(f"{seconds:.2f} s packed, {apart_seconds:.2f} s one row a step")
        print(f"RATIO scoring: {apart_seconds / seconds:.2f} (target {TARGET})")
