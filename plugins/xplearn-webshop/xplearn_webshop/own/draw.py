"""Keyed draws of the own catalogue: the same words give the same product, whatever stands before it in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xplearn import derive

T = TypeVar("T")
_SEED = 0
_SCALE = 2**63


def number(*key: str | int) -> int:
    """A number in [0, 2**63) that depends on the key only."""
    return derive(_SEED, "webshop.own", *key)


def fraction(*key: str | int) -> float:
    """A number in [0, 1)."""
    return number(*key) / _SCALE


def pick(items: Sequence[T], *key: str | int) -> T:
    """One of the items."""
    return items[number(*key) % len(items)]


def few(items: Sequence[T], count: int, *key: str | int) -> tuple[T, ...]:
    """``count`` of the items (all, if there are fewer), in the order they stand in."""
    places = sorted(range(len(items)), key=lambda place: number(*key, place))[:count]
    return tuple(items[place] for place in sorted(places))
