"""One vector space in memory: a FAISS flat inner-product index and the ids of its rows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import faiss
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Hit = tuple[int, float]
"""Row and score."""
_SPARE = 4
"""Hits fetched beyond those asked for, so that a tie at the last place is seen without a second pass."""
_BLOCK = 1 << 16
"""Numbers gathered at once: few enough for their memory to be reused."""


class Space:
    """Rows in insertion order, each kept once, inside the index.

    The index's search finds candidates; each one's score is then computed again by itself. So a score depends on its query and row
    alone, never on how many queries were asked together or where the row stands, and equal vectors always tie.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.ids: list[str] = []
        self._index = faiss.IndexFlatIP(dim)
        self._rows: dict[str, int] = {}
        self._vectors: Vectors = np.empty((0, dim), dtype=np.float32)
        self._longest = 0.0

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, ids: Sequence[str], vectors: Vectors) -> None:
        """Append rows."""
        if len(ids) == 0:
            return
        self._index.add(vectors)
        self._rows.update(zip(ids, range(len(self.ids), len(self.ids) + len(ids)), strict=True))
        self.ids.extend(ids)
        self._look()
        self._longest = max(self._longest, math.sqrt(np.square(vectors).sum(-1).max()))

    def remove(self, ids: Iterable[str]) -> None:
        """Delete the rows of those ids that have one; the others keep their order."""
        gone = {self._rows[id] for id in ids if id in self._rows}
        if not gone:
            return
        self._index.remove_ids(faiss.IDSelectorBatch(np.fromiter(gone, dtype=np.int64)))
        self.ids = [id for row, id in enumerate(self.ids) if row not in gone]
        self._rows = {id: row for row, id in enumerate(self.ids)}
        self._look()

    def rows(self, ids: Sequence[str]) -> Vectors:
        """A copy of the vectors of ``ids``, ``[N, D]``; an id without one raises ``KeyError``."""
        return self._vectors[[self._rows[id] for id in ids]].reshape(len(ids), self.dim)

    def search(self, queries: Vectors, k: int, exclude: Sequence[Collection[str]] | None) -> list[list[tuple[str, float]]]:
        """As ``ExperienceStore.search``; ``queries`` float32 ``[Q, D]``, finite."""
        barred = [self._barred(ids) for ids in exclude] if exclude is not None else [frozenset[int]()] * len(queries)
        fetch = min(len(self.ids), k + max(map(len, barred), default=0) + _SPARE)
        if k == 0 or fetch == 0 or len(queries) == 0:
            return [[] for _ in queries]
        rough, rows = self._index.search(queries, fetch)
        exact = self._products(queries, rows)
        reach = (rough[:, -1] + self._doubts(queries)).tolist() if fetch < len(self.ids) else [-math.inf] * len(queries)
        found = []
        for at, hits in enumerate(map(zip, rows.tolist(), exact.tolist())):
            best = _best(hits, k, barred[at])
            if best and best[-1][1] <= reach[at]:
                best = self._thorough(queries[at : at + 1], best[-1][1], k, barred[at])
            found.append([(self.ids[row], score) for row, score in best])
        return found

    def _barred(self, ids: Collection[str]) -> frozenset[int]:
        return frozenset(self._rows[id] for id in ids if id in self._rows)

    def _thorough(self, query: Vectors, at_least: float, k: int, barred: frozenset[int]) -> list[Hit]:
        """The best among all rows that may score ``at_least``: needed where ties or near ties reach beyond what was fetched."""
        rows = np.flatnonzero(self._vectors @ query[0] >= at_least - self._doubts(query)[0])
        return _best(zip(rows.tolist(), self._products(query, rows[None])[0].tolist(), strict=True), k, barred)

    def _products(self, queries: Vectors, rows: NDArray[np.int64]) -> Vectors:
        """Inner product of each query with its rows ``[Q, R]``, every pair by a call of its own to the same routine."""
        products = np.empty(rows.shape, dtype=np.float32)
        step = max(1, _BLOCK // (rows.shape[1] * self.dim or 1))
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            pairs = np.matmul(self._vectors[rows[part]][:, :, None, :], queries[part, None, :, None])
            products[part] = pairs[:, :, 0, 0]
        return products

    def _doubts(self, queries: Vectors) -> NDArray[np.float32]:
        """How far two single-precision computations of an inner product may be apart, per query."""
        lengths: NDArray[np.float32] = np.sqrt(np.square(queries).sum(-1))
        return lengths * np.float32(self._longest * (self.dim + 1) * 2.0**-22)

    def _look(self) -> None:
        """See the index's own memory as ``[N, D]``: valid until its next change."""
        size = len(self.ids) * self.dim
        self._vectors = faiss.rev_swig_ptr(self._index.get_xb(), size).reshape(-1, self.dim) if size else self._vectors[:0]


def _best(hits: Iterable[Hit], k: int, barred: frozenset[int]) -> list[Hit]:
    return sorted((hit for hit in hits if hit[0] not in barred), key=_by_score_then_row)[:k]


def _by_score_then_row(hit: Hit) -> tuple[float, int]:
    return -hit[1], hit[0]
