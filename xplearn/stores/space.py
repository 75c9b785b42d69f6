"""One vector space in memory: a FAISS flat inner-product index and the ids of its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import faiss
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_SPARE = 4
"""Hits fetched beyond those asked for, so that a tie at the last place is seen without a second pass."""
_BLOCK = 1 << 20
"""Numbers rescored at once."""


class Space:
    """Rows in insertion order, each kept once, inside the index.

    FAISS finds candidates; their scores are then computed again in double precision, row by row. A score so depends on its
    query and row alone, never on how many queries were asked together, and equal vectors always tie.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.ids: list[str] = []
        self._index = faiss.IndexFlatIP(dim)
        self._rows: dict[str, int] = {}
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
        self._longest = max(self._longest, float(np.sqrt(np.einsum("nd,nd->n", vectors, vectors).max())))

    def remove(self, ids: Iterable[str]) -> None:
        """Delete the rows of those ids that have one; the others keep their order."""
        gone = {self._rows[id] for id in ids if id in self._rows}
        if not gone:
            return
        self._index.remove_ids(faiss.IDSelectorBatch(np.fromiter(gone, dtype=np.int64)))
        self.ids = [id for row, id in enumerate(self.ids) if row not in gone]
        self._rows = {id: row for row, id in enumerate(self.ids)}

    def rows(self, ids: Sequence[str]) -> Vectors:
        """A copy of the vectors of ``ids``, ``[N, D]``; an id without one raises ``KeyError``."""
        return self._matrix()[[self._rows[id] for id in ids]].reshape(len(ids), self.dim)

    def search(self, queries: Vectors, k: int, exclude: Sequence[Collection[str]] | None) -> list[list[tuple[str, float]]]:
        """As ``ExperienceStore.search``; ``queries`` float32 ``[Q, D]``, finite."""
        barred = [self._barred(ids) for ids in exclude] if exclude is not None else [frozenset[int]()] * len(queries)
        fetch = min(len(self.ids), k + max(map(len, barred), default=0) + _SPARE)
        if k == 0 or fetch == 0 or len(queries) == 0:
            return [[] for _ in queries]
        block = max(1, _BLOCK // (fetch * self.dim))
        hits = []
        for start in range(0, len(queries), block):
            hits += self._block(queries[start : start + block], k, fetch, barred[start : start + block])
        return hits

    def _barred(self, ids: Collection[str]) -> frozenset[int]:
        return frozenset(self._rows[id] for id in ids if id in self._rows)

    def _block(self, queries: Vectors, k: int, fetch: int, barred: Sequence[frozenset[int]]) -> list[list[tuple[str, float]]]:
        rough, rows = self._index.search(queries, fetch)
        scores = _exact(self._matrix()[rows], queries[:, None, :])
        order = np.lexsort((rows, -scores))
        rows, scores = np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)
        doubt = self._doubt(queries)
        found = []
        for at in range(len(queries)):
            best = _first(rows[at].tolist(), scores[at].tolist(), k, barred[at])
            if fetch < len(self.ids) and best[-1][1] <= rough[at, -1] + doubt[at]:
                best = self._thorough(queries[at], k, best[-1][1] - doubt[at], barred[at])
            found.append([(self.ids[row], score) for row, score in best])
        return found

    def _thorough(self, query: Vectors, k: int, at_least: float, barred: frozenset[int]) -> list[tuple[int, float]]:
        """The best among all rows that may score ``at_least``: needed where ties or near ties reach beyond what was fetched."""
        matrix = self._matrix()
        rows = np.flatnonzero(matrix @ query >= at_least)
        scores = _exact(matrix[rows], query)
        order = np.lexsort((rows, -scores))
        return _first(rows[order].tolist(), scores[order].tolist(), k, barred)

    def _doubt(self, queries: Vectors) -> NDArray[np.float64]:
        """Bound of the rounding error of a single-precision inner product, per query."""
        lengths: NDArray[np.float64] = np.sqrt(np.einsum("qd,qd->q", queries, queries, dtype=np.float64))
        return lengths * (self._longest * (self.dim + 1) * 2.0**-23)

    def _matrix(self) -> Vectors:
        """The index's own memory as ``[N, D]``: valid until the next ``add`` or ``remove``."""
        size = len(self.ids) * self.dim
        if size == 0:
            return np.empty((0, self.dim), dtype=np.float32)
        view: Vectors = faiss.rev_swig_ptr(self._index.get_xb(), size)
        return view.reshape(-1, self.dim)


def _exact(rows: Vectors, query: Vectors) -> NDArray[np.float32]:
    """Inner products over the last axis, the same for a row wherever it stands. Products of singles are exact in double."""
    total: NDArray[np.float64] = (rows.astype(np.float64) * query).sum(-1)
    return total.astype(np.float32)


def _first(rows: list[int], scores: list[float], k: int, barred: frozenset[int]) -> list[tuple[int, float]]:
    ranked = zip(rows, scores, strict=True)
    if not barred:
        return list(ranked)[:k]
    return [hit for hit in ranked if hit[0] not in barred][:k]
