"""Demonstrations from the simulator's own solutions, verified by replay."""

from __future__ import annotations

import dataclasses
import difflib
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from xplearn import Task, Trajectory

if TYPE_CHECKING:
    from xplearn_scienceworld.environment import ScienceWorld

Wording = Literal["gold", "trimmed", "admissible"]

_MORE_LITERAL: dict[Wording, tuple[Wording, ...]] = {
    "gold": ("gold",),
    "trimmed": ("trimmed", "gold"),
    "admissible": ("admissible", "trimmed", "gold"),
}


def best_replay(env: ScienceWorld, task: Task, path: Sequence[str], *, seed: int, wording: Wording) -> Trajectory:
    """The first replay that solves the task, from the wanted wording on to more literal ones; else the last, with its ``error``."""
    tried = []
    for current in _MORE_LITERAL[wording]:
        began = time.perf_counter()
        trajectory = env.replay(task, worded(env, task.kind, path, current), seed=seed)
        tried.append(dataclasses.replace(trajectory, seconds=time.perf_counter() - began))
        if trajectory.success:
            return tried[-1]
    reason = f"the simulator's own solution ends at {tried[-1].score:.2f} of 1.0"
    return dataclasses.replace(tried[-1], error=reason)


def worded(env: ScienceWorld, kind: str, path: Iterable[str], wording: Wording) -> Iterator[str]:
    """The actions of a path in this wording. Lazy: ``admissible`` asks the environment what is possible when each action is due."""
    doors_open = "openDoors" in env.effective(kind)
    for action in path:
        if wording != "gold" and doors_open and action.startswith("open door "):
            continue
        yield closest(action, env.admissible()) if wording == "admissible" else action


def closest(action: str, admissible: Sequence[str]) -> str:
    """The admissible action that means the same, judged by its words; the action itself where none does.

    It starts with the same verb, names nothing that the action does not, and names at least half of it.
    """
    if action in admissible:
        return action
    said = _SYNONYMS.sub(lambda match: _SAME[match.group()], action)
    verb, named = said.partition(" ")[0], _named(said)
    fitting = [option for option in admissible if option.startswith(f"{verb} ") and _named(option) <= named]
    if not fitting:
        return action
    best = max(fitting, key=lambda option: (len(_named(option)), difflib.SequenceMatcher(None, said, option).ratio()))
    return best if 2 * len(_named(best)) >= len(named) else action


_SAME = {"examine": "look at", "drop": "put down"}
_SYNONYMS = re.compile("^(examine|drop)")
_CONNECTIVES = frozenset({"at", "in", "into", "to", "on", "from", "containing", "and", "up", "down", "the"})


def _named(action: str) -> frozenset[str]:
    return frozenset(action.split()[1:]) - _CONNECTIVES
