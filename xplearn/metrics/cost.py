"""What an episode cost, in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xplearn.types import Completion, Step, Trajectory


def shared_prefix(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Length of the longest common prefix of two sequences of the same type.

    Bisects over slice comparisons, which run at C speed: conversations are thousands of tokens long and almost always extend one another.
    """
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def tokens(trajectory: Trajectory) -> tuple[int, int]:
    """Tokens the policy read and wrote; of a growing conversation only the new tokens of each step count as read.

    Where a server counts and keeps the ids, a conversation is known to have grown by its messages, and one that was changed counts anew.
    """
    read = written = 0
    before: Step | None = None
    for step in trajectory.steps:
        prompt, said = _counts(step.completion)
        read += prompt - (_known(before, step) if before else 0)
        written += said
        before = step
    return read, written


def _counts(completion: Completion) -> tuple[int, int]:
    return completion.counted or (len(completion.prompt_ids), len(_said(completion)))


def _said(completion: Completion) -> tuple[int, ...]:
    return completion.token_ids if completion.sampling.choices != "rank" else ()  # an order is not written


def _known(before: Step, step: Step) -> int:
    """How much of a step's prompt was read or written in the step before."""
    if before.completion.counted is None or step.completion.counted is None:
        return shared_prefix(before.completion.prompt_ids + _said(before.completion), step.completion.prompt_ids)
    told = before.conditioning.messages
    if step.conditioning.messages[: len(told)] != told:
        return 0
    prompt, said = before.completion.counted
    now = step.completion.counted[0]
    return prompt + said if prompt + said <= now else min(prompt, now)  # thinking is written, and then left out
