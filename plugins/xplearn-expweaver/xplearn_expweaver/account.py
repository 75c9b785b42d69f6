"""What a summary is written from: query, reasoning and output, and whether they succeeded, as clean text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xplearn import Step, Trajectory
from xplearn.keys import trajectory_key

_GAP = " … "
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """How a task went."""

    task: str
    """What was asked, with the first observation."""
    trace: str
    """What the policy said and did, in order."""
    success: bool

    @property
    def outcome(self) -> str:
        """The outcome in a word."""
        return "success" if self.success else "failure"


def account(trajectory: Trajectory, *, success: bool, shown_chars: int) -> Account:
    """The account of a trajectory with steps; task and trace at most ``shown_chars`` characters each, the middle left out."""
    said = "; ".join(map(_said, trajectory.steps))
    return Account(
        task=shortened(trajectory_key(trajectory).removeprefix("Task: "), shown_chars),
        trace=shortened(said, shown_chars),
        success=success,
    )


def one_line(text: str) -> str:
    """The text on one line, single spaces, without control characters."""
    return " ".join(_UNPRINTABLE.sub(" ", text).split())


def shortened(text: str, limit: int) -> str:
    """The text on one line, its middle left out beyond ``limit`` characters."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    head = (limit - len(_GAP) + 1) // 2
    tail = limit - len(_GAP) - head
    return line[:head] + _GAP + line[len(line) - tail :]


def actions(steps: Sequence[Step]) -> str:
    """What was done, in order, without the reasoning and without calls to the bank."""
    return "; ".join(one_line(step.action) for step in steps if step.action)


def _said(step: Step) -> str:
    """The policy's words, reasoning included, and the action where they do not hold it."""
    words, action = one_line(step.completion.text), one_line(step.action)
    return words if action in words else f"{words} → {action}".removeprefix(" → ")
