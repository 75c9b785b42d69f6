"""What a language model is asked when it writes principles; our wording, as the paper's is not published [OURS]."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from xplearn import Message, Trajectory
from xplearn.keys import trajectory_key
from xplearn_edge.contrasts import Contrast
from xplearn_edge.principle import Pool, one_line

_GOAL_CHARS = 300
_START_CHARS = 600
_ACTION_CHARS = 160
_MOST_ACTIONS = 40

MOST = 2
"""Principles asked for in one answer."""

INSTRUCTIONS = """\
You compare two attempts at one task, one that solved it and one that failed, and write down what made the difference, so that it helps with
other tasks of the same kind. Where only an attempt that solved it is shown, write down what made it work.
Answer with JSON and nothing else: {"principles": [{"title": ..., "when": ..., "do": ..., "avoid": ..., "scope": ...}]}
Write one or two principles. title: a few words. when: the condition, as it goes on after "When". do: what to do then.
avoid: what not to do then, or an empty text. Each is one short sentence. Name types of objects, not single ones: a mug, never mug 2."""

_SCOPES = {
    frozenset({"task"}): 'scope: always "task".',
    frozenset({"task", "step"}): 'scope: "task" for advice on the whole task, "step" for advice on the moment at which the attempts part.',
}

EXAMPLE_REQUEST = """\
Task: water the fern in the study
Start: You are in the garden. You see a shed, a pump and a door to the house.
Solved by: go to shed 1; take can 2 from shed 1; go to pump 1; fill can 2 with pump 1; go to study; pour can 2 on fern 1
Failed with: go to study; look (3 times); take fern 1; go to pump 1; put fern 1 in pump 1
Principles as JSON:"""

EXAMPLE_ANSWER = """\
{"principles": [{"title": "Bring the water to the plant", "when": "a plant has to be watered and nothing that holds water is at hand", \
"do": "fetch a can where tools are kept, fill it at a source of water, then pour it on the plant", \
"avoid": "carrying the plant to the water", "scope": "task"}]}"""


def conversation(contrast: Contrast, scopes: Collection[Pool]) -> tuple[Message, ...]:
    """The request for principles of these scopes, after an example of request and answer."""
    return (
        {"role": "system", "content": f"{INSTRUCTIONS}\n{_SCOPES[frozenset(scopes)]}"},
        {"role": "user", "content": EXAMPLE_REQUEST},
        {"role": "assistant", "content": EXAMPLE_ANSWER},
        {"role": "user", "content": _request(contrast)},
    )


def _request(contrast: Contrast) -> str:
    success = contrast.success
    start = trajectory_key(success).removeprefix(f"Task: {success.task.goal}")
    lines = [
        f"Task: {one_line(success.task.goal, _GOAL_CHARS)}",
        f"Start: {one_line(start, _START_CHARS)}",
        f"Solved by: {_actions(success)}",
        *([f"Failed with: {_actions(contrast.failure)}"] if contrast.failure is not None else []),
        "Principles as JSON:",
    ]
    return "\n".join(lines)


def _actions(item: Trajectory) -> str:
    counted = [(action, sum(1 for _ in same)) for action, same in groupby(one_line(step.action, _ACTION_CHARS) for step in item.steps)]
    return "; ".join(_within([action if count == 1 else f"{action} ({count} times)" for action, count in counted]))


def _within(actions: Sequence[str]) -> list[str]:
    """The actions, those in the middle left out where there are many: the end is where it was solved, or where it stuck."""
    if len(actions) <= _MOST_ACTIONS:
        return list(actions)
    half = _MOST_ACTIONS // 2
    return [*actions[:half], "…", *actions[-half:]]
