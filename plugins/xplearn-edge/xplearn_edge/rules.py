"""A principle without a model: what the successful trajectory did that the failing one did not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from xplearn import Trajectory
from xplearn.learning.credit import observation
from xplearn_edge.contrasts import Contrast
from xplearn_edge.principle import Pool, Principle, one_line

_GOAL_CHARS = 120
_ACTION_CHARS = 60
_SEEN_CHARS = 120
_TITLE_CHARS = 60
_DONE_CHARS = 240
_AVOIDED_CHARS = 100
_IDLE = frozenset({"", "look", "look around", "inventory", "wait", "wait1", "help"})
_LEAD_IN = re.compile(r"^(?:your (?:task|goal) is to:?|task:|goal:|please)\s+", re.IGNORECASE)
_NUMBERED = re.compile(r"\b([a-z][a-z-]*) #?\d{1,3}\b", re.IGNORECASE)
_QUANTITY = frozenset(
    {"a", "an", "the", "to", "of", "for", "than", "at", "in", "on", "by", "and", "or", "about", "least", "most", "below", "above"}
)


def principles(contrast: Contrast, scopes: Collection[Pool]) -> tuple[Principle, ...]:
    """One principle on the whole task, and where ``step`` is asked for and the trajectories part, one on the moment at which they do."""
    written = [on_task(contrast)] if "task" in scopes else []
    moment = on_step(contrast) if "step" in scopes else None
    return (*written, moment) if moment is not None else tuple(written)


def on_task(contrast: Contrast) -> Principle:
    """What was done with success from where the two part; what was done only in failing is to be avoided, most often done first."""
    done = _told(contrast.success, contrast.parting or 0)
    failing, known = _told(contrast.failure) if contrast.failure is not None else [], set(_told(contrast.success))
    only_failing = Counter(action for action in failing if action not in known)
    return Principle(
        title=_title(contrast.success),
        when=f"the task is to {_goal(contrast.success)}",
        do=_in_order(done),
        avoid=", ".join(_fitting((action for action, _ in only_failing.most_common()), _AVOIDED_CHARS)),
        scope="task",
    )


def on_step(contrast: Contrast) -> Principle | None:
    """What the successful one did where the failing one began to differ."""
    at = contrast.parting
    if at is None or contrast.failure is None:
        return None
    success, failing = contrast.success, contrast.failure.steps[at : at + 1]
    before = observation(success.steps[at].query.messages)
    seen = generic(one_line(before.removeprefix(f"Task: {success.task.goal}"), _SEEN_CHARS))
    return Principle(
        title=_title(success),
        when=f"the task is to {_goal(success)} and you see: {seen}",
        do=_action(success.steps[at].action) or "look around",
        avoid=", ".join(_action(step.action) for step in failing),
        scope="step",
    )


def generic(text: str) -> str:
    """The text with ``mug`` for ``mug 2``; numbers that count or measure stay."""
    return _NUMBERED.sub(lambda match: match[0] if match[1].lower() in _QUANTITY else match[1], text)


def _told(item: Trajectory, first: int = 0) -> list[str]:
    """Its actions from a step on without instance numbers, looking around and direct repetitions; all of them where none would be left."""
    actions = [_action(step.action) for step in item.steps[first:]]
    return [action for action, _ in groupby(action for action in actions if action.lower() not in _IDLE)] or actions


def _action(text: str) -> str:
    return generic(one_line(text, _ACTION_CHARS))


def _in_order(actions: Sequence[str]) -> str:
    """The actions; where they are too long those in the middle are left out, as the end is what solved it."""
    joined = ", then ".join(actions)
    if len(joined) <= _DONE_CHARS:
        return joined
    tail = list(_fitting(reversed(actions), _DONE_CHARS // 2))[::-1]
    head = list(_fitting(actions[: len(actions) - len(tail)], _DONE_CHARS // 2))
    return ", then ".join([*head, "…", *tail])


def _fitting(actions: Iterable[str], limit: int) -> Iterator[str]:
    """The first actions that together, with what joins them, have no more characters than ``limit``."""
    for action in actions:
        limit -= len(action) + len(", then ")
        if limit < 0:
            return
        yield action


def _goal(item: Trajectory) -> str:
    goal = generic(one_line(_LEAD_IN.sub("", item.task.goal.strip()), _GOAL_CHARS)).rstrip(".")
    goal = goal[:1].lower() + goal[1:] if goal[1:2].islower() else goal
    return goal or item.task.kind.replace("_", " ") or "do what is asked"


def _title(item: Trajectory) -> str:
    return one_line(re.sub(r"[_-]+", " ", item.task.kind) or _goal(item), _TITLE_CHARS)
