"""Keyed draws for the mini rows: the same on every machine, whatever else was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from xplearn import derive
from xplearn_expbench.spec import Row

T = TypeVar("T")
Key = str | int

_SEED = 20260601
"""Of every mini row. Another number is another benchmark."""


def number(low: int, high: int, *key: Key) -> int:
    """A whole number from ``low`` to ``high``, both included."""
    return low + derive(_SEED, *key) % (high - low + 1)


def fraction(*key: Key) -> float:
    """A number in [0, 1)."""
    return (derive(_SEED, *key) >> 10) / 2.0**53


def pick(options: Sequence[T], *key: Key) -> T:
    """One of the options."""
    return options[derive(_SEED, *key) % len(options)]


def few(options: Sequence[T], count: int, *key: Key) -> list[T]:
    """``count`` different options in a drawn order."""
    left, drawn = list(options), list[T]()
    for place in range(count):
        index = derive(_SEED, *key, place) % len(left)
        left[index], left[-1] = left[-1], left[index]
        drawn.append(left.pop())
    return drawn


def shuffled(options: Sequence[T], *key: Key) -> list[T]:
    """All options in another order."""
    return few(options, len(options), *key)


def named(task: str, rows: Sequence[Row]) -> list[Row]:
    """The rows in a mixed order, with ids made of what they ask, so that adding rows renames none."""
    return shuffled([replace(row, id=f"{task}-{derive(_SEED, row.question):016x}") for row in rows], task, "order")


def words(text: str) -> tuple[str, ...]:
    """The words of a line."""
    return tuple(text.split())
