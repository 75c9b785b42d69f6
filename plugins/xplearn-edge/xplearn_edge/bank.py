"""The principles of a bank, and what a step is about to change in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import chain
from typing import Any

from xplearn import Encoder, Experience, ExperienceStore
from xplearn_edge.index import SPACES, pool_of
from xplearn_edge.principle import Pool, fingerprint

KIND = "principle"
_MOST = 10**15
"""Steps and windows beyond are no count: something that was damaged, or made up."""


class Principles:
    """Reads the bank once, and again only where another has written. Nothing reaches the bank before ``write``."""

    def __init__(self) -> None:
        self._store: ExperienceStore | None = None
        self._version = -1
        self._held: dict[str, Experience] = {}
        self._named: dict[str, dict[str, None]] = {}
        self._declining: dict[str, None] = {}
        self._forget()

    def follow(self, store: ExperienceStore) -> bool:
        """Look at this bank as it is now, forgetting what was never written; whether it was read anew."""
        self._forget()
        known, self._version = self._version, -1  # trusted again once a step has been written
        if store is self._store and store.version == known:
            return False
        self._held = {experience.id: experience for experience in store if experience.kind == KIND}
        self._named = {}
        for experience in self._held.values():
            self._named.setdefault(print_of(experience), {})[experience.id] = None
        self._declining = {id: None for id, experience in self._held.items() if count(experience, "negative")}
        self._store = store
        return True

    def __len__(self) -> int:
        return len(self._held) - len(self._gone) + len(self._new)

    def __contains__(self, id: object) -> bool:
        return id in self._new or (id in self._held and id not in self._gone)

    def __getitem__(self, id: str) -> Experience:
        return self._new.get(id) or self._drafted.get(id) or self._held[id]

    def __iter__(self) -> Iterator[Experience]:
        """All of them in the order of the bank, as they are about to be."""
        if not self._drafted and not self._gone:
            return chain(self._held.values(), self._new.values())
        held = (self._drafted.get(id, experience) for id, experience in self._held.items() if id not in self._gone)
        return chain(held, self._new.values())

    @property
    def declining(self) -> list[Experience]:
        """Those that the bank holds whose last window had a negative mean gain."""
        return [self[id] for id in self._declining]

    @property
    def new(self) -> tuple[Experience, ...]:
        """Those that are about to be added."""
        return tuple(self._new.values())

    def named(self, print: str) -> str | None:
        """Id of the entry with this fingerprint, the first in the bank where several have it."""
        held = (id for id in self._named.get(print, ()) if id not in self._gone)
        new = (experience.id for experience in self._new.values() if print_of(experience) == print)
        return next(chain(held, new), None)

    def change(self, id: str, meta: dict[str, Any] | None = None, **fields: Any) -> None:
        """Replace fields of one, and some of its ``meta``."""
        before = self[id]
        after = dataclasses.replace(before, **fields, meta={**before.meta, **(meta or {})})
        (self._new if id in self._new else self._drafted)[id] = after

    def drop(self, id: str) -> None:
        """Remove one that the bank holds."""
        self._gone[id] = None

    def add(self, experience: Experience) -> None:
        """Append one."""
        self._new[experience.id] = experience

    def write(self, store: ExperienceStore, encoder: Encoder) -> None:
        """Bring the bank to what was drafted: one write of all changes, one of all removals, one for each pool that grows."""
        by_pool: dict[Pool, list[Experience]] = {}
        for experience in self._new.values():
            by_pool.setdefault(pool_of(experience), []).append(experience)
        vectors = {pool: encoder.encode([experience.key for experience in found]) for pool, found in by_pool.items()}
        drafted = {id: experience for id, experience in self._drafted.items() if id not in self._gone}
        if drafted:
            store.update_many({id: {"utility": new.utility, "uses": new.uses, "meta": new.meta} for id, new in drafted.items()})
        if self._gone:
            store.remove(list(self._gone))
        for pool, found in by_pool.items():
            store.add(found, {SPACES[pool]: vectors[pool]})
        self._settle(drafted, [experience for found in by_pool.values() for experience in found])
        self._version = store.version

    def _settle(self, drafted: dict[str, Experience], added: list[Experience]) -> None:
        self._held.update(drafted)
        for id, experience in drafted.items():
            self._mark(id, declining=count(experience, "negative") > 0)
        for id in self._gone:
            self._mark(id, declining=False)
            print = print_of(self._held.pop(id))
            del self._named[print][id]
            if not self._named[print]:
                del self._named[print]
        for experience in added:
            self._held[experience.id] = experience
            self._named.setdefault(print_of(experience), {})[experience.id] = None
        self._forget()

    def _mark(self, id: str, *, declining: bool) -> None:
        if declining:
            self._declining[id] = None
        else:
            self._declining.pop(id, None)

    def _forget(self) -> None:
        self._drafted: dict[str, Experience] = {}
        self._gone: dict[str, None] = {}
        self._new: dict[str, Experience] = {}


def print_of(experience: Experience) -> str:
    """The fingerprint of an entry; computed where its writer left none."""
    kept = experience.meta.get("fingerprint")
    return kept if isinstance(kept, str) else fingerprint(experience.content, pool_of(experience))


def count(experience: Experience, name: str) -> int:
    """A count in an entry's ``meta``; 0 where its writer left none, or what cannot be one."""
    kept = experience.meta.get(name)
    return kept if isinstance(kept, int) and 0 <= kept <= _MOST else 0
