"""Invented users whose taste drifts, and what they choose."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from xplearn_expbench.mini.draw import few, fraction, number

_FAVOURITE = 0.65
_LIKED = 0.15
"""Shares of choices that follow the favourite trait and the liked one; the others follow appeal alone."""
_DRIFTING = 0.6
"""Share of users whose favourite changes on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to choose."""

    title: str
    traits: tuple[str, ...]
    """What it is like: its genre, or its scent and brand."""
    appeal: float
    """How often it is chosen by people without a taste, relative to others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who chooses, and in which order."""

    name: str
    chosen: tuple[Item, ...]
    """Oldest first, no item twice."""
    drifts: bool
    """The favourite of the end is not that of the beginning."""


def user(name: str, items: Sequence[Item], tastes: Sequence[str]) -> User:
    """A user with one favourite trait, or two of which the second takes over, and one more trait that is liked throughout.

    Args:
        name: key of every draw.
        items: what there is.
        tastes: the traits that can be a favourite.
    """
    first, later, liked = few(tastes, 3, "tastes", name)
    drifts = fraction("drifts", name) < _DRIFTING
    chosen: list[Item] = []
    taken: set[str] = set()
    length = number(7, 11, "length", name)
    for place in range(length):
        favourite = later if drifts and fraction("turn", name, place) < place / (0.8 * length) else first
        followed = _followed(favourite, liked, name, place)
        welcome = [item for item in items if item.title not in taken and (followed is None or followed in item.traits)]
        chosen.append(_drawn(welcome, name, place))
        taken.add(chosen[-1].title)
    return User(name=name, chosen=tuple(chosen), drifts=drifts)


def _followed(favourite: str, liked: str, *key: str | int) -> str | None:
    """The trait that a choice follows, or None."""
    mood = fraction("mood", *key)
    if mood < _FAVOURITE:
        return favourite
    return liked if mood < _FAVOURITE + _LIKED else None


def _drawn(items: Sequence[Item], *key: str | int) -> Item:
    """One item, with a probability in proportion to its appeal."""
    sums = list(accumulate(item.appeal for item in items))
    return items[min(bisect(sums, fraction("drawn", *key) * sums[-1]), len(items) - 1)]
