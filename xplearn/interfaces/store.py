"""The bank."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from xplearn.component import Component
from xplearn.types import Experience

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class ExperienceStore(Component):
    """Experiences by id, and named vector spaces over them. Interprets nothing.

    Iterates in insertion order. ``version`` grows with every write. While frozen (always in evaluation) a write raises
    ``ContractError``. A space remembers its encoder id and dimension; opening or adding with another raises, naming both.
    A failed write leaves the store as it was.
    """

    def open(self, path: str) -> None:
        """Keep the bank in this file if the configuration names no place.

        Called before ``setup``, with the run's own file; a store that needs none, or was given one, ignores it.
        """

    @property
    def encoders(self) -> Mapping[str, str]:
        """Encoder ids by space of a bank that exists already, known before it is opened; empty where there is none."""
        return {}

    @abstractmethod
    def add(self, experiences: Sequence[Experience], vectors: Mapping[str, Vectors] | None = None) -> None:
        """Append experiences, durably and all or none.

        Args:
            experiences: new entries; an id that is already present, or twice in the call, raises ``ContractError``.
            vectors: for each space already opened with ``open_space``, float32 ``[N, D]`` with one row per experience.
        """

    @abstractmethod
    def get(self, ids: Sequence[str]) -> list[Experience]:
        """Experiences in the order of ``ids``; an unknown id raises ``ContractError``."""

    @abstractmethod
    def remove(self, ids: Sequence[str]) -> None:
        """Delete experiences and their vectors; an unknown id raises ``ContractError``."""

    @abstractmethod
    def update(self, id: str, **changes: Any) -> None:
        """Replace fields of one experience (any field of ``Experience`` but ``id``), e.g. ``utility=0.3``."""

    def update_many(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace fields of several experiences, by id: as ``update`` on each, and where the store can, in one write, all or none.

        Args:
            changes: by id, the fields to replace; an unknown id, or a field that an experience does not have, raises ``ContractError``.
        """
        self.get(list(changes))  # raises before anything is written
        for id, fields in changes.items():
            self.update(id, **fields)

    @abstractmethod
    def open_space(self, space: str, *, encoder: str, dim: int) -> None:
        """Create a vector space, or check that the existing one has this encoder id and dimension.

        Raises:
            ContractError: the space exists with another encoder or dimension; the message names both.
        """

    @abstractmethod
    def spaces(self) -> dict[str, tuple[str, int]]:
        """Encoder id and dimension by name of space."""

    @abstractmethod
    def search(
        self, space: str, queries: Vectors, k: int, *, exclude: Sequence[Collection[str]] | None = None
    ) -> list[list[tuple[str, float]]]:
        """The ``k`` nearest entries by inner product, best first, ties by insertion order.

        Args:
            space: an open space.
            queries: float32 ``[Q, D]``.
            k: at most this many hits a query; fewer where the space is smaller.
            exclude: per query, ids that must not be returned (the leak guard).
        """

    @abstractmethod
    def vectors(self, space: str, ids: Sequence[str]) -> Vectors:
        """Stored vectors, float32 ``[N, D]``, in the order of ``ids``."""

    def ids(self, space: str) -> list[str]:
        """Ids of the experiences that have a vector in an open space, in insertion order.

        As a search of everything, by a query that all are equally near to, tells them; a store that knows them overrides it.
        """
        import numpy as np

        _, dim = self.spaces().get(space, ("", 0))
        (hits,) = self.search(space, np.zeros((1, dim), dtype=np.float32), len(self))
        return [id for id, _ in hits]

    @abstractmethod
    def from_task(self, task: str) -> frozenset[str]:
        """Ids of the experiences whose source task is ``task``."""

    @abstractmethod
    def frozen(self) -> AbstractContextManager[None]:
        """A context in which every write raises ``ContractError``. Nests."""

    @abstractmethod
    def digest(self) -> str:
        """Hash of the content (experiences in order, spaces and vectors): equal content, equal digest, in any store."""

    @property
    @abstractmethod
    def version(self) -> int:
        """Number of writes so far."""

    @abstractmethod
    def snapshot(self, path: str) -> None:
        """Write a copy of the whole bank to the file ``path``, atomically."""

    @abstractmethod
    def restore(self, path: str) -> None:
        """Replace the whole content by that of a snapshot."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Experience]: ...

    @abstractmethod
    def __contains__(self, id: object) -> bool: ...
