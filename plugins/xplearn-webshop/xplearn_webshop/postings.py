"""Building the search index: term by term, which documents and how much each counts, without holding it all in memory.

Documents are analysed one after the other; every four million postings become a sorted run on disk; the runs are merged by ranges of
terms. Memory stays with the vocabulary and one range.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from xplearn_webshop.analyzer import term_of, tokens

Array = np.ndarray[Any, Any]

K1, B = np.float32(0.9), np.float32(0.4)
"""The BM25 parameters of the original's search engine."""
_RUN = 4_000_000
_MEMO = 300_000
_EXACT = 24
"""Lengths up to here are stored exactly in Lucene's byte; what lies above keeps four significant bits."""


class _Numbers(dict[str, int]):
    """Tokens to the numbers of their terms, -1 for a stop word; looks up what it has not met, and forgets when it is full."""

    def __init__(self, terms: dict[str, int]) -> None:
        super().__init__()
        self._terms = terms

    def __missing__(self, token: str) -> int:
        if len(self) >= _MEMO:
            self.clear()
        term = term_of(token)
        self[token] = number = self._terms.setdefault(term, len(self._terms)) if term else -1
        return number


class IndexBuilder:
    """Takes documents in order, then writes the index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._terms: dict[str, int] = {}
        self._numbers = _Numbers(self._terms)
        self._frequency = np.zeros(0, dtype=np.int64)
        self._lengths = array("i")
        self._buffer = (array("i"), array("i"), array("i"))
        self._runs: list[Path] = []

    def add(self, text: str) -> None:
        """One more document."""
        counts = Counter(map(self._numbers.__getitem__, tokens(text)))
        counts.pop(-1, None)
        terms, documents, counted = self._buffer
        terms.extend(counts.keys())
        documents.extend([len(self._lengths)] * len(counts))
        counted.extend(counts.values())
        self._lengths.append(sum(counts.values()))
        if len(terms) >= _RUN:
            self._flush()

    def finish(self) -> dict[str, float]:
        """Write the index; the number of documents that hold words, for ranking."""
        self._flush()
        self._numbers.clear()
        lengths = np.frombuffer(self._lengths, dtype=np.int32)
        documents = int(np.count_nonzero(lengths))
        inverse = inverse_norms(lengths, float(np.float32(lengths.sum(dtype=np.int64) / max(documents, 1))))
        order = self._write_terms()
        self._terms.clear()
        for run in self._runs:
            _relabel(run, order)
        _merge(self._folder, self._runs, self._frequency[order], inverse)
        for run in self._runs:
            run.unlink()
        return {"documents": documents}

    def _flush(self) -> None:
        """The postings at hand as one run on disk, ordered by term, then document."""
        terms, documents, counts = (np.frombuffer(part, dtype=np.int32) for part in self._buffer)
        known = np.bincount(terms, minlength=len(self._terms))
        known[: len(self._frequency)] += self._frequency
        self._frequency = known
        order = np.argsort(terms, kind="stable")
        path = self._folder / f"run{len(self._runs)}.npy"
        np.save(path, np.stack([terms[order], documents[order], counts[order]]))
        self._runs.append(path)
        self._buffer = (array("i"), array("i"), array("i"))

    def _write_terms(self) -> Array:
        """The vocabulary in the order of its bytes; for each place in that order, the number the term had while building."""
        raw = [term.encode("utf-8", "surrogatepass") for term in self._terms]
        order = sorted(range(len(raw)), key=raw.__getitem__)
        sizes = np.fromiter((len(raw[number]) for number in order), dtype=np.int64, count=len(order))
        with (self._folder / "terms.bin").open("wb") as file:
            file.writelines(raw[number] for number in order)
        np.save(self._folder / "terms.offsets.npy", np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        return np.array(order, dtype=np.int64)


def inverse_norms(lengths: Array, average: float) -> Array:
    """What a term's frequency is multiplied by in a document of each length, as Lucene computes it in 32 bits."""
    mean = np.float32(average) if average else np.float32(1)
    norms = K1 * ((np.float32(1) - B) + B * coarse(lengths).astype(np.float32) / mean)
    inverse: Array = (np.float32(1) / norms).astype(np.float32)
    return inverse


def coarse(lengths: Array) -> Array:
    """Document lengths as they come back from Lucene's one-byte code."""
    above = np.maximum(lengths.astype(np.int64) - _EXACT, 0)
    bits = np.floor(np.log2(np.maximum(above, 1))).astype(np.int64) + 1
    shift = np.maximum(bits - 4, 0)
    kept: Array = np.minimum(lengths, _EXACT) + ((above >> shift) << shift)
    return kept


def _relabel(path: Path, order: Array) -> None:
    """Give the terms of a run their final numbers, and sort it again."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    run = np.load(path, allow_pickle=False)
    run[0] = place[run[0]]
    np.save(path, run[:, np.argsort(run[0], kind="stable")])


def _merge(folder: Path, runs: list[Path], frequency: Array, inverse: Array) -> None:
    """Write ``starts``, ``documents`` and ``weights`` from the runs, one range of terms after the other."""
    starts = np.concatenate([[0], np.cumsum(frequency)]).astype(np.int64)
    np.save(folder / "starts.npy", starts)
    with (folder / "documents.npy").open("wb") as documents, (folder / "weights.npy").open("wb") as weights:
        for file, kind in ((documents, np.int32), (weights, np.float32)):
            header = {"descr": np.lib.format.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": (int(starts[-1]),)}
            np.lib.format.write_array_header_1_0(file, header)
        for low, high in _ranges(frequency):
            _, found, counts = _block(runs, low, high)
            documents.write(found.tobytes())
            weights.write((counts.astype(np.float32) * inverse[found]).tobytes())


def _block(paths: list[Path], low: int, high: int) -> Array:
    """The postings of a range of terms from all runs, by term, then document: int32 [3, postings]."""
    runs = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]  # mapped anew each time: what was read is let go
    cuts = [np.searchsorted(run[0], [low, high]) for run in runs]
    block = np.concatenate([run[:, left:right] for run, (left, right) in zip(runs, cuts, strict=True)], axis=1)
    ordered: Array = block[:, np.argsort(block[0], kind="stable")]
    return ordered


def _ranges(frequency: Array) -> Iterator[tuple[int, int]]:
    """Ranges of terms, each of about one run's size."""
    ends = np.cumsum(frequency)
    low = 0
    while low < len(ends):
        done = ends[low - 1] if low else 0
        high = max(int(np.searchsorted(ends, done + _RUN, side="right")), low + 1)
        yield low, high
        low = high
