"""The bank as one tensor of states, the same one as long as the bank does not change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xplearn import ExperienceStore, LocalPolicy, Memory
from xplearn_expweaver.states import require_own

if TYPE_CHECKING:
    import torch

_SHARED = 0.75
"""A selection of at least this share of the bank reads the tensor of the whole; smaller ones get their own."""
_KEPT = 256
"""Smaller selections whose tensor is kept."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """All states of one version of the bank."""

    version: int
    ids: tuple[str, ...]
    places: dict[str, int]
    states: torch.Tensor


class LatentBank:
    """Gives out latent memory over the experiences of a store that have a vector in one space."""

    def __init__(self, store: ExperienceStore, space: str, policy: LocalPolicy) -> None:
        """Raise ``ContractError`` where the bank holds the states of another model than this policy's; also when it comes to hold them."""
        self._store, self._space, self._policy = store, space, policy
        require_own(store, space, policy)
        self._whole: _Whole | None = None
        self._parts: OrderedDict[tuple[int, ...], Memory] = OrderedDict()

    def memory(self, ids: Sequence[str]) -> Memory | None:
        """The states of these experiences; None where none of them has one. Rows of the bank not asked for are barred or absent."""
        whole = self._now()
        places = [whole.places[id] for id in ids if id in whole.places]
        if not places:
            return None
        if len(places) >= _SHARED * len(whole.ids):
            left_out = set(range(len(whole.ids))).difference(places)
            return Memory(states=whole.states, ids=whole.ids, barred=tuple(sorted(left_out)))
        return self._part(whole, tuple(places))

    def _part(self, whole: _Whole, places: tuple[int, ...]) -> Memory:
        """A small selection's own tensor; equal selections share it."""
        if places not in self._parts:
            self._parts[places] = Memory(states=whole.states[list(places)], ids=tuple(whole.ids[place] for place in places))
            if len(self._parts) > _KEPT:
                self._parts.popitem(last=False)
        self._parts.move_to_end(places)
        return self._parts[places]

    def _now(self) -> _Whole:
        version = self._store.version
        if self._whole is None or self._whole.version != version:
            self._whole = self._read(version)
            self._parts.clear()
        return self._whole

    def _read(self, version: int) -> _Whole:
        import torch

        require_own(self._store, self._space, self._policy)
        if self._space not in self._store.spaces():
            return _Whole(version, (), {}, torch.zeros(0, 0))
        ids = tuple(self._store.ids(self._space))
        vectors = torch.from_numpy(np.ascontiguousarray(self._store.vectors(self._space, ids), dtype=np.float32))
        return _Whole(
            version,
            ids,
            {id: place for place, id in enumerate(ids)},
            vectors.to(next(value for _, value in self._policy.parameters()).device),
        )
