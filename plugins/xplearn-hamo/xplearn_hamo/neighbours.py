"""Each card's nearest neighbours by cosine, exact to the last tie.

FAISS finds candidates; their cosines are then computed again on a grid fine enough for single-precision input and coarse enough
that double-precision sums of products are exact. So a cosine never depends on block sizes, threads or where a row stands, equal
vectors always tie, and ties go to the smaller row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import faiss
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Exact = NDArray[np.float64]
    Rows = NDArray[np.int64]

_GRID = 2.0**24
"""Steps per unit: a coordinate in [-1, 1] fits a float32, and a sum of products of two unit vectors fits a float64, exactly."""
_SPARE = 4
"""Candidates fetched beyond those needed, so that a tie at the last place is mostly seen at once."""
_BLOCK = 1 << 21
"""Numbers of double precision worked on at once."""


def nearest_neighbours(vectors: Vectors, k: int) -> Rows:
    """The ``k`` nearest other rows of every row, best first, ties to the smaller row.

    A row is told from its duplicates by its number, not by its distance. A vector of zeros has cosine 0 with every other.

    Args:
        vectors: ``[N, D]``, finite; need not have unit length.
        k: at least 1; each of fewer than k + 1 rows has all the others as neighbours.

    Returns:
        ``[N, min(k, N - 1)]``; the dense matrix of cosines is never built.
    """
    count = len(vectors)
    width = max(min(k, count - 1), 0)
    found = np.empty((count, width), dtype=np.int64)
    if width == 0:
        return found
    units = _units(vectors)
    fetch = min(width + 1 + _SPARE, count)
    doubtful = []
    for part in _blocks(count, fetch * units.shape[1]):
        found[part], unsure = _fetched(units, part, width, fetch)
        doubtful.append(unsure)
    _settle(units, np.concatenate(doubtful), found)
    return found


def _units(vectors: Vectors) -> Vectors:
    """Rows of unit length on the grid."""
    units = np.empty(vectors.shape, dtype=np.float32)
    for part in _blocks(len(vectors), vectors.shape[1]):
        rows = vectors[part].astype(np.float64)
        lengths = np.sqrt(np.square(rows).sum(-1, keepdims=True))
        units[part] = np.rint(rows / np.where(lengths > 0.0, lengths, 1.0) * _GRID) / _GRID
    return units


def _fetched(units: Vectors, part: slice, width: int, fetch: int) -> tuple[Rows, Rows]:
    """The nearest rows of a part among ``fetch`` candidates each, and those of its rows that others may be nearer to."""
    rough, rows = faiss.knn(units[part], units, fetch, metric=faiss.METRIC_INNER_PRODUCT)
    own = np.arange(part.start, part.start + len(rows))
    exact = np.matmul(units[rows].astype(np.float64), units[part].astype(np.float64)[:, :, None])[:, :, 0]
    exact[rows == own[:, None]] = -math.inf
    best = np.lexsort((rows, -exact))[:, :width]
    if fetch == len(units):
        return np.take_along_axis(rows, best, 1), own[:0]
    last = np.take_along_axis(exact, best, 1)[:, -1]
    return np.take_along_axis(rows, best, 1), own[last <= rough[:, -1] + _doubt(units.shape[1])]


def _doubt(dim: int) -> float:
    """How far a single-precision inner product of unit vectors may be from the true one, twice over."""
    return (dim + 4) * 2.0**-23


def _settle(units: Vectors, rows: Rows, found: Rows) -> None:
    """Find the neighbours of ``rows`` among all rows: ties, or nearly, reach beyond what was fetched."""
    if len(rows) == 0:
        return
    everything = units.astype(np.float64)
    width = found.shape[1]
    for part in _blocks(len(rows), len(units)):
        asked = rows[part]
        cosines = everything[asked] @ everything.T
        cosines[np.arange(len(asked)), asked] = -math.inf
        reach = np.partition(cosines, -width, axis=1)[:, -width]
        for row, line, least in zip(asked, cosines, reach, strict=True):
            found[row] = _best(line, least, width)


def _best(cosines: Exact, least: float, width: int) -> Rows:
    """The ``width`` largest of one row, all at least ``least``."""
    ties = np.flatnonzero(cosines == least)
    better = np.flatnonzero(cosines > least)
    better = better[np.argsort(-cosines[better], kind="stable")]
    return np.concatenate((better, ties[: width - len(better)]))


def _blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of ``count`` rows of ``width`` numbers each that fit a block."""
    step = max(1, _BLOCK // max(width, 1))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
