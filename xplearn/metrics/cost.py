"""What an episode cost, in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xplearn.types import Trajectory


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
    """Tokens the policy read and wrote; of a growing conversation only the new tokens of each step count as read."""
    read = written = 0
    known: tuple[int, ...] = ()
    for step in trajectory.steps:
        completion = step.completion
        read += len(completion.prompt_ids) - shared_prefix(known, completion.prompt_ids)
        said = completion.token_ids if completion.sampling.choices != "rank" else ()  # an order is not written
        written += len(said)
        known = completion.prompt_ids + said
    return read, written
