"""A row as it is shown: its options or candidates in an order that says nothing of the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from xplearn import DataError, derive
from xplearn_expbench.spec import Row, TaskSpec


def presented(spec: TaskSpec, row: Row, *, seed: int, shuffle: bool, candidates: int) -> Row:
    """The row with its options shuffled or its candidates drawn, and the answer told accordingly; others as they are."""
    if spec.kind == "choice" and shuffle:
        return _shuffled(row, seed, spec.name)
    if spec.kind == "ranking":
        return dataclasses.replace(row, choices=_candidates(row, candidates, seed, spec.name))
    return row


def _shuffled(row: Row, seed: int, task: str) -> Row:
    order = sorted(range(len(row.choices)), key=lambda at: derive(seed, "options", task, row.id, at))
    return dataclasses.replace(row, choices=tuple(row.choices[at] for at in order), answer=order.index(row.answer))


def _candidates(row: Row, count: int, seed: int, task: str) -> tuple[str, ...]:
    """The target and ``count - 1`` others, or all with ``count`` 0, without what the user has had already, in an order by key."""
    had = {*map(str, row.meta.get("history", ())), row.answer}
    negatives = [item for item in row.choices if item not in had] if not count else list(_drawn(row, had, count - 1, seed, task))
    return tuple(sorted([row.answer, *negatives], key=lambda item: (derive(seed, "candidates", task, row.id, item), item)))


def _drawn(row: Row, had: set[str], count: int, seed: int, task: str) -> Iterator[str]:
    """``count`` negatives without repetition."""
    pool: Sequence[str] = row.choices
    taken = set(had)
    if len(pool) - sum(item in had for item in pool) < count:
        raise DataError(f"{task}/{row.id}", f"has fewer than {count} candidates beside its target; lower candidates")
    draw = 0
    while count:
        item = pool[derive(seed, "negative", task, row.id, draw) % len(pool)]
        draw += 1
        if item not in taken:
            taken.add(item)
            count -= 1
            yield item
