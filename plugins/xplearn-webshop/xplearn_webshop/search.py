"""The search of the original: Lucene's BM25, its order and its ties, from arrays that every process shares.

A document's score is the sum over the query's words of ``w - w / (1 + f / norm)``, where ``w`` is the inverse document frequency times
the word's repeats in the query, ``f`` its frequency in the document and ``norm`` depends on the document's coarse length (see
``postings``). Single precision where Lucene has it. Equal scores are ordered by product id.
"""

from __future__ import annotations

import functools
import math
import mmap
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from xplearn_webshop.analyzer import term_of, tokens
from xplearn_webshop.stored import mapped

Array = np.ndarray[Any, Any]


class Index:
    """A read-only index in a folder.

    Args:
        folder: where ``IndexBuilder`` wrote.
        size: how many documents there are.
        documents: how many of them hold words.
        ranks: int32 [size], each document's place among equals.
    """

    def __init__(self, folder: Path, *, size: int, documents: int, ranks: Array) -> None:
        self._size, self._count, self._ranks = size, documents, ranks
        self._offsets, self._starts = mapped(folder / "terms.offsets.npy"), mapped(folder / "starts.npy")
        self._documents, self._weights = mapped(folder / "documents.npy"), mapped(folder / "weights.npy")
        with (folder / "terms.bin").open("rb") as file:
            self._terms = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self._offsets[-1] else b""
        self._term = functools.lru_cache(maxsize=65_536)(self._locate)

    def search(self, words: str, k: int) -> list[int]:
        """The numbers of the ``k`` best documents for these words, best first; fewer where fewer match."""
        found = [(term, count) for token, count in Counter(tokens(words)).items() if (term := self._term(token))]
        boosts: Counter[tuple[int, int, float]] = Counter()
        for term, count in found:
            boosts[term] += count
        if not boosts:
            return []
        spans = [slice(start, end) for start, end, _ in boosts]
        shares = [self._shares(term, count) for term, count in boosts.items()]
        documents = np.concatenate([self._documents[span] for span in spans])
        scores = np.bincount(documents, weights=np.concatenate(shares), minlength=self._size).astype(np.float32)
        return self._best(scores, k)

    def _shares(self, term: tuple[int, int, float], count: int) -> Array:
        """What a term adds to the score of each document that holds it."""
        start, end, idf = term
        weight = np.float32(count) * np.float32(idf)
        return weight - weight / (np.float32(1) + self._weights[start:end])

    def _best(self, scores: Array, k: int) -> list[int]:
        """The ``k`` highest above zero; ties by rank."""
        if k < self._size:
            threshold = np.partition(scores, self._size - k)[self._size - k]
            near = np.flatnonzero((scores >= threshold) & (scores > 0))
        else:
            near = np.flatnonzero(scores > 0)
        order = np.lexsort((self._ranks[near], -scores[near]))[:k]
        chosen: list[int] = near[order].tolist()
        return chosen

    def _locate(self, token: str) -> tuple[int, int, float] | None:
        """Where the postings of a token's term start and end, and its inverse document frequency; None for an unknown one."""
        term = term_of(token).encode("utf-8", "surrogatepass")
        low, high = 0, len(self._offsets) - 1
        while low < high:
            middle = (low + high) // 2
            if self._terms[self._offsets[middle] : self._offsets[middle + 1]] < term:
                low = middle + 1
            else:
                high = middle
        if not term or low == len(self._offsets) - 1 or self._terms[self._offsets[low] : self._offsets[low + 1]] != term:
            return None
        start, end = int(self._starts[low]), int(self._starts[low + 1])
        return start, end, math.log(1 + (self._count - (end - start) + 0.5) / (end - start + 0.5))
