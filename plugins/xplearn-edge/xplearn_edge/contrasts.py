"""Contrasts: one trajectory that solved a task beside one that failed at the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from xplearn import Trajectory
from xplearn.keys import trajectory_key
from xplearn_edge.gains import Group
from xplearn_edge.principle import Pool

Which = Literal["any", "hurt"]
Kind = tuple[str, str]
"""Environment and kind of task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """What a principle is written from."""

    success: Trajectory
    failure: Trajectory | None
    """Of the same group; None where an expert's way is all there is."""

    @property
    def sources(self) -> list[str]:
        """Ids of its trajectories, the success first."""
        return [self.success.id] + ([self.failure.id] if self.failure is not None else [])

    @property
    def parting(self) -> int | None:
        """The first step at which the two did not do the same; None where the success has no such step."""
        if self.failure is None:
            return None
        same = shared(self.success, self.failure)
        return same if same < len(self.success.steps) else None

    def scopes(self, wanted: Collection[Pool]) -> frozenset[Pool]:
        """What of the wanted a principle may be about: no moment where the trajectories do not part."""
        return frozenset(wanted) if self.parting is not None else frozenset({"task"})

    def digest(self) -> str:
        """Names both trajectories and how they were played: equal digests, the same principle."""
        both = [self.success] + ([self.failure] if self.failure is not None else [])
        told = [[item.id, item.seed, repr(item.score), trajectory_key(item), [step.action for step in item.steps]] for item in both]
        return hashlib.blake2b(json.dumps(told).encode(), digest_size=12, person=b"edge-contrast").hexdigest()


def shared(first: Trajectory, second: Trajectory) -> int:
    """How many steps the two begin with that are the same in both."""
    pairs = zip(first.steps, second.steps, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one.action != other.action), min(len(first.steps), len(second.steps)))


def success_rates(groups: Iterable[Group]) -> dict[Kind, float]:
    """Share of solved trajectories of each kind of task, of both arms."""
    solved: dict[Kind, list[bool]] = {}
    for item in (item for group in groups for item in _both(group)):
        solved.setdefault(kind_of(item), []).append(item.success)
    return {kind: sum(found) / len(found) for kind, found in solved.items()}


def contrasts(groups: Sequence[Group], *, below: float, which: Which, limit: int) -> list[Contrast]:
    """At most ``limit`` contrasts, one a group, of the kinds of task whose success is below ``below`` [P]; kinds in turn, hardest first.

    Args:
        groups: of one step.
        below: share of solved trajectories, strictly.
        which: any success and failure [P], or a failure with experience and a success without: experience that hurt [C].
        limit: most contrasts.
    """
    rates = success_rates(groups)
    by_kind: dict[Kind, list[Contrast]] = {kind: [] for kind in sorted(rates, key=lambda kind: (rates[kind], kind)) if rates[kind] < below}
    for group in groups:
        kind = kind_of(_both(group)[0])
        found = _contrast(group, which) if kind in by_kind else None
        if found is not None:
            by_kind[kind].append(found)
    in_turn = (found for together in zip_longest(*by_kind.values()) for found in together if found is not None)
    return list(in_turn)[:limit]


def shown(batch: Iterable[Trajectory]) -> dict[str, list[Contrast]]:
    """The expert's ways through tasks that it solved, by kind of task."""
    ways: dict[str, list[Contrast]] = {}
    for item in batch:
        if item.source == "demonstration" and item.error is None and item.steps and item.success:
            ways.setdefault(item.task.kind, []).append(Contrast(success=item, failure=None))
    return ways


def kind_of(item: Trajectory) -> Kind:
    """Environment and kind of a trajectory's task."""
    return item.task.env, item.task.kind


def _contrast(group: Group, which: Which) -> Contrast | None:
    """The shortest success, and the failure that goes the same way for longest: it tells best what made the difference."""
    successes = [item for item in (group.plain if which == "hurt" else _both(group)) if item.success]
    failures = [item for item in (group.experience if which == "hurt" else _both(group)) if not item.success]
    if not successes or not failures:
        return None
    success = min(successes, key=lambda item: (len(item.steps), item.id))
    return Contrast(success=success, failure=min(failures, key=lambda item: (-shared(success, item), item.id)))


def _both(group: Group) -> tuple[Trajectory, ...]:
    return (*group.experience, *group.plain)
