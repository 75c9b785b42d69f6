"""Packing: rows that begin alike share one sequence, so that a trajectory is read once and not once per step.

The steps of a trajectory extend one another: a plain sequence. Where a row leaves the common path (another completion of the same prompt, a
candidate to rank, a completion that was re-encoded) it becomes a branch: later in the sequence, at its own positions, blind to
its siblings. Either way every token sees exactly what it would see alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from xplearn.policies.prefix_cache import common_prefix

Tokens = NDArray[np.int64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Packed:
    """Some rows as one sequence of T tokens."""

    ids: Tokens
    """``[T]``."""
    positions: Tokens
    """``[T]``: place of each token in its own row."""
    places: dict[int, Places]
    """Per row, where in the sequence each of its tokens stands."""
    shared: dict[int, int]
    """Per row, how many of its tokens an earlier row brought."""
    branched: bool
    """Some token must not see everything before it."""

    def seen(self, width: int) -> NDArray[np.bool_]:
        """What each token may see, bool ``[width, width]``; padding sees itself."""
        seen = np.eye(width, dtype=np.bool_)
        for row, places in self.places.items():
            shared = self.shared[row]
            seen[np.ix_(places[shared:], places)] = np.tri(len(places) - shared, len(places), shared, dtype=np.bool_)
        return seen


def pack(rows: Sequence[Tokens], tags: Sequence[Hashable], *, limit: int, width: int) -> list[Packed]:
    """Pack rows where that is less work than reading them apart.

    Args:
        rows: tokens, each at least one.
        tags: rows with different tags are never packed together (latent memory that changes hidden states).
        limit: no sequence grows beyond this many tokens, unless a single row does.
        width: hidden width D of the model, which says how dear attention is next to the rest.
    """
    attention = 1.0 / (6.0 * width)
    return [_lay_out(rows, group) for members in _by_tag(rows, tags) for group in _merge(rows, members, limit, attention)]


def batches(sequences: Sequence[Packed], limit: int) -> list[list[Packed]]:
    """Sequences of like length and kind, at most ``limit`` padded tokens a batch (or a single sequence)."""
    groups: list[list[Packed]] = []
    for item in sorted(sequences, key=lambda item: (item.branched, -len(item.ids))):
        last = groups[-1] if groups else []
        if last and last[0].branched == item.branched and (len(last) + 1) * len(last[0].ids) <= limit:
            last.append(item)
        else:
            groups.append([item])
    return groups


@dataclass(slots=True)
class _Group:
    """Neighbouring rows in sorted order, to be one sequence."""

    rows: list[int]
    shared: list[int]
    """Per row, how much it shares with the row before it."""
    length: int
    plain: bool
    """Each row extends the one before it."""

    def cost(self, attention: float) -> float:
        """Work in units of one token through the linear layers; a plain causal sequence skips half of the attention."""
        return self.length + attention * self.length**2 * (0.5 if self.plain else 1.0)


def _by_tag(rows: Sequence[Tokens], tags: Sequence[Hashable]) -> Iterable[list[int]]:
    members: dict[Hashable, list[int]] = {}
    for row in sorted(range(len(rows)), key=lambda row: rows[row].tolist()):
        members.setdefault(tags[row], []).append(row)
    return members.values()


def _alone(rows: Sequence[Tokens], members: Sequence[int]) -> list[_Group]:
    """Rows in sorted order, each by itself, with what it shares with its neighbour."""
    shared = [0, *(common_prefix(rows[before], rows[row]) for before, row in pairwise(members))]
    return [_Group([row], [common], len(rows[row]), True) for row, common in zip(members, shared, strict=True)]


def _merge(rows: Sequence[Tokens], members: Sequence[int], limit: int, attention: float) -> list[_Group]:
    """Join neighbours, those that share most first, while that saves work."""
    groups = _alone(rows, members)
    home = list(range(len(groups)))
    for right in sorted(range(1, len(groups)), key=lambda index: -groups[index].shared[0]):
        left = _find(home, right - 1)
        joined = _joined(groups[left], groups[right], len(rows[groups[left].rows[-1]]))
        fits = joined.length <= max(limit, groups[left].length, groups[right].length)
        apart = groups[left].cost(attention) + groups[right].cost(attention)
        if groups[right].shared[0] and fits and joined.cost(attention) <= apart:
            groups[left], home[right] = joined, left
    return [group for index, group in enumerate(groups) if home[index] == index]


def _joined(first: _Group, second: _Group, end: int) -> _Group:
    """Both groups as one; ``end`` is the length of the first one's last row."""
    shared = second.shared[0]
    plain = first.plain and second.plain and end == shared
    return _Group(first.rows + second.rows, first.shared + second.shared, first.length + second.length - shared, plain)


def _find(home: list[int], index: int) -> int:
    while home[index] != index:
        home[index] = home[home[index]]
        index = home[index]
    return index


def _lay_out(rows: Sequence[Tokens], group: _Group) -> Packed:
    places: dict[int, Places] = {}
    known = dict(zip(group.rows, [0, *group.shared[1:]], strict=True))
    ids, positions, length, before = [], [], 0, np.zeros(0, dtype=np.int64)
    for row, shared in known.items():
        fresh = len(rows[row]) - shared
        before = places[row] = np.concatenate([before[:shared], np.arange(length, length + fresh)])
        ids.append(rows[row][shared:])
        positions.append(np.arange(shared, shared + fresh))
        length += fresh
    return Packed(np.concatenate(ids), np.concatenate(positions), places, known, not group.plain)
