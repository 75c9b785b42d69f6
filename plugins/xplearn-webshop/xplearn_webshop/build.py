"""Compiling data once: products, goals and search index into a folder of flat files, in one pass and little memory."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from xplearn import DataError
from xplearn.files import replacing
from xplearn_webshop.goals import KINDS, GoalWriter, combinations
from xplearn_webshop.loading import GET, Source
from xplearn_webshop.nouns import Tagger
from xplearn_webshop.parsing import asin_of, document, product, strings, text, to_record
from xplearn_webshop.postings import IndexBuilder
from xplearn_webshop.records import Product
from xplearn_webshop.stored import RecordWriter

FORMAT = 1
"""Of the folder; it changes with anything that is written into it."""
HEADER = "header.json"
_BATCH = 256
_FEW = 0.5
"""A file of instructions that knows fewer of the products is one of other data."""


class _Build:
    """One compilation."""

    def __init__(self, source: Source, folder: Path) -> None:
        self._source, self._folder = source, folder
        self._digest = hashlib.blake2b(digest_size=16)
        self._products = RecordWriter(folder, "products", self._digest)
        self._goals = {kind: GoalWriter(folder, kind, self._digest) for kind in KINDS}
        self._index = IndexBuilder(folder)
        self._asins: list[str] = []
        self._described = 0

    def run(self, tagger: Tagger) -> dict[str, Any]:
        """Write everything but the header, which is returned."""
        report = _Progress(self._source.label)
        instructions = dict(self._entries(self._source.instructions))
        human = dict(self._entries(self._source.human)) if self._source.human else {}
        tag = tagger.open()
        for batch in _batches(self._raw_products()):
            nouns = tag([(asin, text(raw.get("name"))) for asin, raw in batch])
            for (asin, raw), found in zip(batch, nouns, strict=True):
                entry = self._entry(instructions.pop(asin, ""), asin)
                self._add(product(asin, raw, entry.get("attributes"), found), entry, human.get(asin, "[]"))
            report.line(f"{len(self._asins):,} products read")
        del tag, instructions, human
        counts = {f"{kind} goals": goals.finish() for kind, goals in self._goals.items()}
        counts = {"products": len(self._asins), **counts}
        self._check(counts)
        report.line("joining the search index")
        ranked = self._index.finish()
        self._write_asins()
        return {"digest": self._digest.hexdigest(), "counts": counts, "human file": self._source.human is not None, **ranked}

    def close(self) -> None:
        """Close all files, complete or not."""
        self._products.close()
        for writer in self._goals.values():
            writer.close()

    def _raw_products(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The entries that the original keeps, once each, with their ids."""
        seen: set[str] = set()
        for number, raw in enumerate(self._source.products()):
            if not (isinstance(raw, dict) and raw.get("asin") and "name" in raw):
                raise DataError(self._source.label, f"product {number:,} has no asin or no name: the file of products is damaged; {GET}")
            asin = asin_of(raw)
            if asin and asin not in seen:
                seen.add(asin)
                yield asin, raw

    def _add(self, made: Product, entry: Mapping[str, Any], human: str) -> None:
        self._asins.append(made.asin)
        self._products.add(to_record(made))
        self._index.add(document(made))
        if isinstance(entry.get("instruction"), str):
            wanted = strings(entry.get("instruction_attributes"))
            told = text(entry["instruction"])
            self._goals["synthetic"].add(made.asin, 0, instruction=told, attributes=wanted, options=None, count=combinations(made))
        for number, wish in enumerate(self._entry(human, made.asin, list)):
            options, wanted = strings(wish.get("instruction_options")), strings(wish.get("instruction_attributes"))
            told = text(wish.get("instruction")).strip(".")
            self._goals["human"].add(made.asin, number, instruction=told, attributes=wanted, options=options, count=1)

    def _entry(self, raw: str, asin: str, kind: type[Any] = dict) -> Any:
        """An entry of a file of instructions, which must be of this kind; an empty one where there is none."""
        if not raw:
            return kind()
        self._described += kind is dict
        entry = json.loads(raw)
        whole = isinstance(entry, kind) and (kind is dict or all(isinstance(wish, dict) for wish in entry))
        if not whole:
            raise DataError(self._source.label, f"the instructions of {asin} are no {kind.__name__}: the file is damaged; {GET}")
        return entry

    def _entries(self, read: Callable[[], Iterable[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
        return ((asin.upper(), entry) for asin, entry in read())

    def _check(self, counts: Mapping[str, int]) -> None:
        """Refuse files that are partial or do not belong together."""
        total = counts["products"]
        if not total:
            raise DataError(self._source.label, f"holds no products; {GET}")
        if self._described < _FEW * total:
            found = f"the file of instructions knows {self._described:,} of the {total:,} products"
            raise DataError(self._source.label, f"{found}: it is one of another size, or partial; {GET}")
        expected = {name: count for name, count in (self._source.expected or {}).items() if count != counts[name]}
        if not self._source.human:
            expected.pop("human goals", None)
        if expected:
            found = ", ".join(f"{counts[name]:,} {name} instead of {count:,}" for name, count in expected.items())
            raise DataError(self._source.label, f"the files named _1000 hold {found}: they are partial or changed; {GET}")

    def _write_asins(self) -> None:
        """The ids in order, the product of each, and each product's place in the order (which settles ties in the search)."""
        asins = np.array(self._asins)
        order = np.argsort(asins, kind="stable").astype(np.int32)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        for name, values in (("asins", asins[order]), ("asins.order", order), ("ranks", ranks)):
            np.save(self._folder / f"{name}.npy", values)


class _Progress:
    """Lines on standard error, for those who wait longer than two seconds."""

    def __init__(self, label: str) -> None:
        self._label, self._due = label, time.monotonic() + 2

    def line(self, what: str) -> None:
        if time.monotonic() >= self._due:
            sys.stderr.write(f"webshop: compiling {self._label} (once): {what}\n")
            self._due = time.monotonic() + 5


def build(source: Source, tagger: Tagger, folder: Path) -> None:
    """Compile into an existing empty folder; its header comes last.

    Raises:
        DataError: the data are damaged, partial or do not belong together.
    """
    work = _Build(source, folder)
    with contextlib.closing(work):
        header = work.run(tagger)
    files = {path.name: [path.stat().st_size, checksum(path)] for path in sorted(folder.iterdir())}
    with replacing(folder / HEADER) as file:
        file.write(json.dumps({"format": FORMAT, **header, "source": source.label, "files": files}, indent=1).encode())


def checksum(path: Path) -> int:
    """The CRC-32 of a file."""
    value = 0
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            value = zlib.crc32(part, value)
    return value


def _batches(products: Iterator[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[tuple[str, Mapping[str, Any]], ...]]:
    while batch := tuple(islice(products, _BATCH)):
        yield batch
