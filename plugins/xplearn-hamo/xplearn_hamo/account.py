"""What an outline is written from: a trajectory's goal, first observation and actions, as clean text."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from xplearn import Trajectory

_GOAL_CHARS = 600
_ACTION_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """How a task was solved. One line each, cut, without control characters: fit to be shown."""

    goal: str
    """What was asked for."""
    start: str
    """The first observation."""
    actions: tuple[str, ...]
    """What was done, in order."""

    def digest(self, *how: str | int) -> str:
        """Names this account and how an outline of it is made: equal digests, the same outline."""
        text = json.dumps([self.goal, self.start, self.actions, *how])
        return hashlib.blake2b(text.encode(), digest_size=16, person=b"hamo-outline").hexdigest()


def account(trajectory: Trajectory, *, start_chars: int) -> Account:
    """The account of a trajectory.

    Args:
        trajectory: an episode.
        start_chars: longest first observation, in characters; the rest is cut.
    """
    goal = trajectory.task.goal
    first = first_turn(trajectory).removeprefix(f"Task: {goal}")
    return Account(
        goal=one_line(goal, _GOAL_CHARS),
        start=one_line(first, start_chars),
        actions=tuple(one_line(step.action, _ACTION_CHARS) for step in trajectory.steps),
    )


def first_turn(trajectory: Trajectory) -> str:
    """The first user turn of the conversation before the first action."""
    messages = trajectory.steps[0].query.messages if trajectory.steps else ()
    return next((message["content"] for message in messages if message["role"] == "user"), "")


def one_line(text: str, limit: int) -> str:
    """Text on one line of at most ``limit`` characters, without control characters, lone surrogates and the like."""
    words = ("".join(filter(str.isprintable, word)) for word in text.split())
    line = " ".join(filter(None, words))
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…" if limit else ""
