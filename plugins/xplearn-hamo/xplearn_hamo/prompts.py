"""What a language model is asked when it writes an outline; our wording, as the paper's is not published [OURS]."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from xplearn import Message
from xplearn_hamo.account import Account

VERSION = 1
"""Grows with every change of the wording: outlines of another wording are not reused."""

_ACTIONS_CHARS = 4000

INSTRUCTIONS = """\
You read how one task was solved and write down the way, so that it helps with other tasks of the same kind.
Answer with a numbered outline and nothing else: at most {max_steps} lines, one short step on each.
Put together what belongs together; leave out detours, repetitions and mere looking around.
Name types of objects, not single ones: a mug, never mug 2.
Begin the last line with "Done when" and tell by what one sees that the task is solved."""


EXAMPLE = Account(
    goal="water the fern in the study",
    start="You are in the garden. You see a shed 1, a pump 1 and a door to the house.",
    actions=(
        "look",
        "go to shed 1",
        "take can 2 from shed 1",
        "go to pump 1",
        "fill can 2 with pump 1",
        "go to study",
        "pour can 2 on fern 1",
    ),
)
EXAMPLE_OUTLINE = """\
1. Take a can from the place where tools are kept
2. Fill the can at a source of water
3. Carry the can to the room of the plant and pour it on the plant
4. Done when the soil of the plant is wet"""


def conversation(account: Account, max_steps: int) -> tuple[Message, ...]:
    """The request for an outline of at most ``max_steps`` lines, after an example of request and answer."""
    return (
        {"role": "system", "content": INSTRUCTIONS.format(max_steps=max_steps)},
        {"role": "user", "content": _request(EXAMPLE)},
        {"role": "assistant", "content": EXAMPLE_OUTLINE},
        {"role": "user", "content": _request(account)},
    )


def not_to_be_copied(max_steps: int) -> str:
    """What the model was told that is about no task of ours."""
    return f"{INSTRUCTIONS.format(max_steps=max_steps)}\n{EXAMPLE_OUTLINE}"


def _request(account: Account) -> str:
    actions = _within(_merged(account.actions), _ACTIONS_CHARS)
    told = [f"Task: {account.goal}", f"Start: {account.start}", "Actions:", *(f"- {action}" for action in actions)]
    return "\n".join([*told, "Numbered outline:"])


def _merged(actions: Iterable[str]) -> list[str]:
    counted = [(action, sum(1 for _ in same)) for action, same in groupby(actions)]
    return [action if count == 1 else f"{action} ({count} times)" for action, count in counted]


def _within(actions: list[str], limit: int) -> list[str]:
    """The actions, those in the middle left out where all together are longer than ``limit`` characters."""
    head: list[str] = []
    tail: list[str] = []
    room, first, last = limit, 0, len(actions) - 1
    while first <= last:
        from_head = len(head) <= len(tail)
        action = actions[first if from_head else last]
        room -= len(action)
        if room < 0:
            return [*head, "…", *reversed(tail)]
        (head if from_head else tail).append(action)
        first, last = (first + 1, last) if from_head else (first, last - 1)
    return [*head, *reversed(tail)]
