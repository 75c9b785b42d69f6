"""Greedy maximum coverage in linear time.

Gains are small integers, so buckets stand in for a heap: a set waits in the bucket of the gain it had when last looked at, and is
moved down only when its bucket's turn comes. Gains themselves are always exact: an element, once covered, is taken from the gain
of the few sets that hold it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]


def reverse_sets(neighbours: Rows) -> tuple[Rows, Rows]:
    """The sets R_j = {i : j is a neighbour of i} as compressed rows.

    Args:
        neighbours: ``[N, K]``, the neighbours of each card.

    Returns:
        ``indptr [N + 1]`` and ``indices [N * K]``: R_j is ``indices[indptr[j]:indptr[j + 1]]``, ascending.
    """
    count, width = neighbours.shape
    hits = np.bincount(neighbours.ravel(), minlength=count)
    indptr = np.concatenate(([0], np.cumsum(hits)))
    places = np.sort(neighbours.ravel() * neighbours.size + np.arange(neighbours.size))  # plain numbers sort much faster than an argsort
    return indptr, places % max(neighbours.size, 1) // max(width, 1)


def greedy_cover(neighbours: Rows, allowed: NDArray[np.bool_] | None = None) -> tuple[Rows, Rows]:
    """Choose the card whose reverse set covers most that is uncovered, again and again, until nothing is gained.

    Ties go to the larger reverse set, then to the smaller row.

    Args:
        neighbours: ``[N, K]``, distinct neighbours of each card, itself not among them.
        allowed: ``[N]``, which cards may be chosen; all where none is given.

    Returns:
        The chosen rows in order, and the gain of each: how many cards it was the first to cover. Gains are positive and never grow.
    """
    order = np.argsort(-np.bincount(neighbours.ravel(), minlength=len(neighbours)), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    ranked = rank[neighbours]
    open_ranks = np.arange(len(order)) if allowed is None else np.flatnonzero(allowed[order])
    chosen, gains = _choose(ranked, open_ranks)
    return order[np.array(chosen, dtype=np.int64)], np.array(gains, dtype=np.int64)


def _choose(neighbours: Rows, allowed: Rows) -> tuple[list[int], list[int]]:
    """As ``greedy_cover``, where cards are known as neighbours by their rank among ties."""
    indptr, indices = reverse_sets(neighbours)
    gain, starts, members, holders = np.diff(indptr).tolist(), indptr.tolist(), indices.tolist(), neighbours.tolist()
    uncovered = bytearray(b"\x01") * len(holders)
    waiting: defaultdict[int, list[int]] = defaultdict(list)
    for card in allowed.tolist():
        waiting[gain[card]].append(card)
    chosen: list[int] = []
    gains: list[int] = []
    for level in range(max(waiting, default=0), 0, -1):
        for card in sorted(waiting.pop(level, ())):
            if gain[card] < level:
                waiting[gain[card]].append(card)
                continue
            chosen.append(card)
            gains.append(level)
            for covered in members[starts[card] : starts[card + 1]]:
                if uncovered[covered]:
                    uncovered[covered] = 0
                    for holder in holders[covered]:
                        gain[holder] -= 1
    return chosen, gains
