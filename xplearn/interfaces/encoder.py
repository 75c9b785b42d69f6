"""Text to vector."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xplearn.component import Component

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Encoder(Component):
    """Encodes texts as unit vectors, so that an inner product is a cosine."""

    @property
    @abstractmethod
    def id(self) -> str:
        """Names the encoder and everything that changes its vectors, e.g. ``core.hashing/256``."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Width of a vector. Known after ``setup``."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Float32 ``[N, D]``, rows of length 1 (a zero row for an empty text)."""
