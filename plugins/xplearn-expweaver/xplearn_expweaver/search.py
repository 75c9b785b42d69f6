"""Exact and fast: the rows of a bank nearest to hidden states, by cosine."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

EXACT_ROWS = 20_000
"""Banks of up to so many rows, and any bank on an accelerator, are scanned whole; others first in ``_WIDTH`` dimensions."""
_WIDTH = 160
"""Leading directions of a large bank in which its rows are compared first."""
_CANDIDATES = 256
"""Rows of a large bank, per query, that are then compared in all dimensions."""
_SAMPLE = 8192
"""Rows of a large bank from which its leading directions are learned."""
_BLOCK = 1 << 23
"""Numbers held at once while searching."""

Barred = Sequence[tuple[int, ...]]


class Rows:
    """One bank, made ready to be searched.

    A first scan finds candidates; each one's cosine is then computed again by itself, in double precision. So what is found depends on the
    query alone, never on how many are asked together, and equal rows always tie: the smaller row goes first. The whole scan misses
    nothing. The narrow one finds over 99 in 100 of the nearest among 100,000 hidden states of SmolLM2, and of more than 256 equal rows any.
    """

    def __init__(self, bank: Tensor) -> None:
        """``bank`` float32 ``[M, D]``, at least one row."""
        self._unit = torch.nn.functional.normalize(bank, dim=-1, eps=1e-12)
        narrow = bank.device.type == "cpu" and len(bank) > EXACT_ROWS and bank.shape[1] > 2 * _WIDTH
        self._axes = _leading(self._unit) if narrow else None
        self._scanned = self._unit if self._axes is None else self._unit @ self._axes

    def nearest(self, queries: Tensor, k: int, barred: Barred) -> Tensor:
        """int64 ``[B, T, K]``: the nearest rows, best first, -1 where no more are to be had; K is ``k`` or the size of the bank.

        Args:
            queries: float32 ``[B, T, D]``.
            k: how many.
            barred: per batch row, rows it may not have.
        """
        batch, places, _ = queries.shape
        flat, k = queries.flatten(0, 1), min(k, len(self._unit))
        closed = [torch.tensor(rows, device=flat.device) if rows else None for rows in barred]
        found = flat.new_full((len(flat), k), -1, dtype=torch.int64)
        width = len(self._unit) if self._axes is None else max(len(self._unit), _CANDIDATES * flat.shape[1])
        for part in _parts(len(flat), _BLOCK // width):
            scores = self._scan(flat[part])
            for row in range(part.start // places, -(-part.stop // places)):
                here = slice(max(row * places - part.start, 0), (row + 1) * places - part.start)
                if (rows := closed[row]) is not None:
                    scores[here, rows] = -torch.inf
            found[part] = self._best(flat[part], scores, k)
        return found.view(batch, places, k)

    def _scan(self, queries: Tensor) -> Tensor:
        """Rough inner products ``[Q, M]`` with every row."""
        return (queries if self._axes is None else queries @ self._axes) @ self._scanned.T

    def _best(self, queries: Tensor, scores: Tensor, k: int) -> Tensor:
        """The best ``k`` rows ``[Q, k]`` of each query by cosine, given rough inner products ``[Q, M]``, -inf where a row is barred."""
        if self._axes is None:
            return self._of(queries, scores, torch.arange(scores.shape[1], device=scores.device).expand_as(scores), k)
        rows = scores.topk(max(_CANDIDATES, k)).indices.sort().values
        closer = (self._unit[rows] * queries[:, None]).sum(-1)
        return self._of(queries, closer.masked_fill(scores.gather(1, rows) == -torch.inf, -torch.inf), rows, k)

    def _of(self, queries: Tensor, scores: Tensor, rows: Tensor, k: int) -> Tensor:
        """The best ``k`` of these rows ``[Q, C]``, ascending, by exact cosine: among all that single precision may have confused."""
        doubt = queries.norm(dim=-1, keepdim=True) * ((queries.shape[1] + 1) * 2.0**-22)
        least = scores.topk(k).values[:, -1:] - doubt
        reach = int(((scores >= least) & (scores > -torch.inf)).sum(-1).clamp(min=k).max())
        places = scores.topk(reach).indices.sort().values
        rows = rows.gather(1, places)
        exact = self._exact(queries, rows).masked_fill(scores.gather(1, places) == -torch.inf, -torch.inf)
        best, order = exact.sort(descending=True, stable=True)
        return rows.gather(1, order).masked_fill(best == -torch.inf, -1)[:, :k]

    def _exact(self, queries: Tensor, rows: Tensor) -> Tensor:
        """float64 ``[Q, C]``: inner product of each query with its rows."""
        exact = torch.empty(rows.shape, dtype=torch.float64, device=rows.device)
        for part in _parts(len(rows), _BLOCK // (2 * rows.shape[1] * queries.shape[1])):
            exact[part] = (self._unit[rows[part]].double() * queries[part, None].double()).sum(-1)
        return exact


class Ready:
    """Banks made ready, each as long as its tensor lives: rows that act on one bank hand in the same tensor every time."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[weakref.ref[Tensor], Rows]] = {}

    def __call__(self, bank: Tensor) -> Rows:
        """The rows of a bank that is not changed while it lives."""
        known = self._rows.get(id(bank))
        if known is not None and known[0]() is bank:
            return known[1]
        key, kept = id(bank), self._rows
        self._rows[key] = (weakref.ref(bank, lambda _: kept.pop(key, None)), Rows(bank))
        return self._rows[key][1]


def _leading(unit: Tensor) -> Tensor:
    """``[D, W]``: the directions in which the rows differ most from nothing."""
    sample = unit[:: -(-len(unit) // _SAMPLE)]
    _, axes = torch.linalg.eigh(sample.T @ sample)
    leading: Tensor = axes[:, -_WIDTH:]
    return leading.contiguous()


def _parts(length: int, size: int) -> Iterator[slice]:
    step = max(1, size)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
