"""A memory of bounded size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values made once and kept while they are among the last so many used."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[K, V] = OrderedDict()

    def values(self, keys: Sequence[K], make: Callable[[list[K]], Iterable[V]]) -> list[V]:
        """The value of each key, in order; those not held are made in one call, each once."""
        wanted = dict.fromkeys(keys)
        missing = [key for key in wanted if key not in self._held]
        if missing:
            self._held.update(zip(missing, make(missing), strict=True))
        found = [self._held[key] for key in keys]
        for key in wanted:
            self._held.move_to_end(key)
        while len(self._held) > self._limit:
            self._held.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._held.clear()
