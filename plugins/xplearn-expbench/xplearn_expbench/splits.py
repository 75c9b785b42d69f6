"""Splits: the source's own, or a stable hash of the question, and a keyed sample of either."""

from __future__ import annotations

import dataclasses
import hashlib
import unicodedata
from collections.abc import Sequence
from typing import Literal

from xplearn import derive
from xplearn_expbench.spec import Row

SPLITS = ("train", "dev", "test")

By = Literal["source", "hash"]

_EDGES = " \t\n\r\"'`“”‘’.?!:;"
_RANGE = float(2**64)


def normalised(question: str) -> str:
    """A question without what does not change it: case, width, spacing, quotes and the mark at its end.

    Marks inside it stay: ``1.5`` is not ``15``.
    """
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split()).strip(_EDGES)


def place(question: str) -> float:
    """Where the normalised question falls in [0, 1), the same on every machine and whatever the other questions are."""
    digest = hashlib.blake2b(normalised(question).encode("utf-8", "surrogatepass"), digest_size=8, person=b"expbench").digest()
    return int.from_bytes(digest, "big") / _RANGE


def hashed(row: Row, test_share: float, dev_share: float) -> str:
    """Split of a row by the hash of its question, or of its group (the template it is made from): equal ones are never in two."""
    at = place(str(row.meta.get("group") or row.question))
    if at < test_share:
        return "test"
    return "dev" if at < test_share + dev_share else "train"


def assigned(rows: Sequence[Row], by: By, test_share: float, dev_share: float) -> list[Row]:
    """The rows, each with its split.

    Args:
        rows: as loaded.
        by: ``source`` keeps the splits that rows have; where the source publishes none to test on, its dev rows are the test. ``hash``
            forgets them.
        test_share: share of the rows without a split that is for testing.
        dev_share: share that is for choosing settings.
    """
    given = {row.split for row in rows}
    renamed = {"dev": "test"} if given and given <= {"train", "dev"} and "dev" in given else {}
    return [dataclasses.replace(row, split=_split(row, by, renamed, test_share, dev_share)) for row in rows]


def _split(row: Row, by: By, renamed: dict[str, str], test_share: float, dev_share: float) -> str:
    if by == "source" and row.split:
        return renamed.get(row.split, row.split)
    return hashed(row, test_share, dev_share)


def sampled(rows: Sequence[Row], count: int | None, seed: int, task: str) -> list[Row]:
    """At most ``count`` rows in their order, drawn by key, each split in proportion to its size."""
    if count is None or count >= len(rows):
        return list(rows)
    kept: set[str] = set()
    for split, quota in _quotas(rows, count).items():
        keyed = sorted((derive(seed, "sample", task, row.id), row.id) for row in rows if row.split == split)
        kept.update(name for _, name in keyed[:quota])
    return [row for row in rows if row.id in kept]


def _quotas(rows: Sequence[Row], count: int) -> dict[str, int]:
    """Largest remainders: the quotas sum to ``count``."""
    sizes = {split: sum(row.split == split for row in rows) for split in SPLITS}
    exact = {split: count * size / len(rows) for split, size in sizes.items()}
    quotas = {split: int(share) for split, share in exact.items()}
    by_remainder = sorted(SPLITS, key=lambda split: quotas[split] - exact[split])
    for split in by_remainder[: count - sum(quotas.values())]:
        quotas[split] += 1
    return quotas
