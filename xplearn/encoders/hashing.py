"""``core.hashing``: words and word pairs hashed into a vector. Needs no model and no package."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from xplearn.errors import ConfigError
from xplearn.interfaces import Encoder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


@dataclass(kw_only=True)
class HashingEncoder(Encoder):
    """The signed hashing trick (Weinberger et al. 2009) over lower-case words and pairs of neighbouring words.

    Counts are integers, so the vectors are the same, bit for bit, on every machine.
    """

    dim: int = 256
    """Width of a vector."""

    def __post_init__(self) -> None:
        if self.dim < 1:
            raise ConfigError("dim", f"must be at least 1, got {self.dim}")

    @property
    def id(self) -> str:
        return f"core.hashing/{self.dim}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> NDArray[np.float64]:
        hashes = np.fromiter(map(_hash, _features(text)), dtype=np.int64)
        counts = np.zeros(self.dim)
        np.add.at(counts, (hashes >> 1) % self.dim, np.where(hashes & 1, 1.0, -1.0))
        length = math.sqrt(float((counts * counts).sum()))
        return counts / (length or 1.0)


def _features(text: str) -> Iterator[str]:
    found = _WORD.findall(text.lower())
    yield from found
    for first, second in pairwise(found):
        yield f"{first} {second}"


@lru_cache(maxsize=1 << 16)
def _hash(feature: str) -> int:
    """63 bits, the lowest one for the sign."""
    digest = blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8, person=b"xplearn-hash").digest()
    return int.from_bytes(digest, "little") >> 1
