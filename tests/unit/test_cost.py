"""Tokens where a server counts them and keeps their ids."""

from __future__ import annotations

import dataclasses

import pytest

from xplearn.metrics.cost import tokens
from xplearn.testing import samples
from xplearn.types import Conditioning


def counted(*counts, changed=False):
    """A trajectory whose conversation grows, or begins anew at each step, with these counts."""
    trajectory, steps = samples.trajectory(0, length=len(counts)), []
    for number, (step, count) in enumerate(zip(trajectory.steps, counts, strict=True)):
        turns = [{"role": "user", "content": f"{turn if not changed else (turn, number)}"} for turn in range(2 * number + 1)]
        completion = dataclasses.replace(step.completion, prompt_ids=(), token_ids=(), logprobs=None, counted=count)
        steps.append(dataclasses.replace(step, conditioning=Conditioning(messages=tuple(turns)), completion=completion))
    return dataclasses.replace(trajectory, steps=tuple(steps))


@pytest.mark.parametrize(
    ("trajectory", "expected"),
    [
        (counted((100, 5)), (100, 5)),
        (counted((100, 5), (125, 6), (160, 2)), (100 + 20 + 29, 13)),
        (counted((100, 500), (130, 600)), (100 + 30, 1100)),
        (counted((100, 5), (90, 5)), (100, 10)),
        (counted((100, 5), (125, 6), changed=True), (225, 11)),
        (counted((100, 5), None, (125, 6)), (225, 11)),
        (counted(None, None), (0, 0)),
    ],
    ids=["one turn", "grown", "thought aloud", "shrunk", "changed", "not always counted", "never counted"],
)
def test_a_turn_counts_as_read_what_is_new_in_it(trajectory, expected):
    assert tokens(trajectory) == expected
