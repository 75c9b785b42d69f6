"""An outline without a model: the actions themselves, merged, their objects named by type.

Made for commands in words (``go to countertop 1``, ``move metal pot to stove``) and for a shop's ``search[…]`` and ``click[…]``; any other
action stands as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from xplearn_hamo.account import Account, one_line
from xplearn_hamo.commands import Command, command, told

T = TypeVar("T")

VERSION = 1
"""Grows with every change of what the rules write."""

FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "to",
        "from",
        "in",
        "into",
        "on",
        "onto",
        "with",
        "at",
        "of",
        "under",
        "over",
        "by",
        "for",
        "and",
        "or",
        "than",
        "about",
        "is",
        "step",
        "steps",
        "least",
        "most",
        "below",
        "above",
        "after",
        "every",
    ]
)
"""Words before a number that are no name of a thing."""

_LINE_CHARS = 200
_GOAL_CHARS = 120
_TOGETHER = 2
"""Steps told on one line, at most."""
_LONGEST_BLOCK = 8
_ARTICLE = re.compile(r"\b(?:an?|the) ")
_LEAD_IN = re.compile(r"^(?:your (?:task|goal) is to|task:|goal:|please)\s+", re.IGNORECASE)
_SHOP = re.compile(r"(search|click)\[(.*)\]", re.IGNORECASE | re.DOTALL)
_PRODUCT = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{10}", re.IGNORECASE)
_TURNING = frozenset({"back to search", "< prev", "next >"})
_READING = frozenset({"description", "features", "reviews", "attributes"})


def write(account: Account, max_steps: int) -> tuple[str, ...]:
    """The outline of an account: at most ``max_steps`` (3 or more) lines, the last one the condition of success."""
    shopping = _is_shopping(account.actions)
    steps = _shopping(account.actions) if shopping else _commands(account.actions)
    lines = _fitted(steps, max_steps - 1)
    return (*(one_line(line[:1].upper() + line[1:], _LINE_CHARS) for line in lines), success(account))


def success(account: Account) -> str:
    """The condition of success, from the goal."""
    if _is_shopping(account.actions):
        return "Done when what is bought has all that was asked for"
    goal = re.split(r"(?<=[.!?])\s", _LEAD_IN.sub("", account.goal))[0].rstrip(".")
    return f"Done when the goal holds: {one_line(goal, _GOAL_CHARS)}" if goal else "Done when the last step has had its effect"


def _is_shopping(actions: Sequence[str]) -> bool:
    return bool(actions) and all(_SHOP.fullmatch(action) for action in actions)


def _shopping(actions: Iterable[str]) -> list[str]:
    """What was done in a shop, without the words searched for and without what was clicked."""
    steps, listing = [], False
    for action in actions:
        verb, label = _SHOP.fullmatch(action).groups()  # type: ignore[union-attr]  # all of them match
        label = label.strip().lower()
        if verb.lower() == "search":
            steps.append("search for the item as described")
        elif label == "buy now":
            steps.append("buy it")
        elif label not in _TURNING | _READING:
            steps.append("open a matching product" if listing or _PRODUCT.fullmatch(label) else "choose the options asked for")
        listing = verb.lower() == "search" or label in _TURNING
    return _collapsed(steps)


def _commands(actions: Sequence[str]) -> list[str]:
    """What was done in commands, each step a text; where all of it was looking around, that."""
    parsed = [command(action) for action in actions]
    return told(_collapsed(_fruitful([step for step in parsed if not step.idle]) or parsed))


def _fruitful(steps: Sequence[Command]) -> list[Command]:
    """Without the moves, and what was opened there, that only led to the next move."""
    kept: list[Command] = []
    for step in reversed(steps):
        if not (kept and kept[-1].moves and (step.moves or step.opens)):
            kept.append(step)
    return kept[::-1]


def _collapsed(steps: Sequence[T]) -> list[T]:
    """Without what directly repeats: a step, or a block of several."""
    found = list(steps)
    for size in range(1, _LONGEST_BLOCK + 1):
        at = 0
        while at + 2 * size <= len(found):
            if found[at : at + size] == found[at + size : at + 2 * size]:
                del found[at + size : at + 2 * size]
            else:
                at += 1
    return found


def _fitted(lines: Sequence[str], limit: int) -> list[str]:
    """At most ``limit`` lines: where there are more steps each is told once, then two on a line, then those in the middle are left out."""
    if len(lines) <= limit:
        return list(lines)
    once: dict[str, str] = {}
    for line in lines:
        once.setdefault(_ARTICLE.sub("", line), line)
    steps = list(once.values())
    if len(steps) > limit * _TOGETHER:
        tail = limit * _TOGETHER // 2
        head = limit * _TOGETHER - tail - 1
        steps = [*steps[:head], "carry on in the same way", *steps[-tail:]]
    count = min(limit, len(steps))
    edges = [len(steps) * line // count for line in range(count + 1)]
    return [", then ".join(steps[start:end]) for start, end in pairwise(edges)]
