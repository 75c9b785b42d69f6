"""Prefix reuse: which conversations the slabs hold, so that a turn feeds only what is new.

A *slot* holds one conversation. A batch always sits in the slots 0 … B-1; as long as the same conversations come back, nothing is copied.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xplearn.policies.slab import Move, Slabs
from xplearn.policies.steady import ROWS

Tokens = NDArray[np.int64]

_ROOM = 256
"""Slabs grow by whole multiples of this many tokens."""
_FRESH = 4
"""A conversation that sat out this many batches may have ended: its slot goes to a newcomer before memory grows."""


@dataclass(slots=True)
class Slot:
    """One conversation in the cache."""

    tokens: Tokens = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """What its keys and values stand for."""
    tag: Hashable = None
    """What else they depend on: weights, latent memory."""
    used: int = 0
    """The batch that used it last."""


class PrefixCache:
    """Keys and values by conversation, within a budget."""

    def __init__(self, layers: int, budget: int) -> None:
        """For a model of ``layers`` decoder layers; at most ``budget`` tokens in all slots together, but always one row."""
        self._slabs, self._budget, self._clock = Slabs(layers), budget, 0
        self.slots: list[Slot] = []
        """Conversations by slot."""
        self.cache = self._slabs.cache
        """What the model is given."""

    def rows_within(self, tokens: int) -> int:
        """How many rows that grow to this many tokens fit the budget."""
        return max(1, self._budget // _rounded(tokens))

    def clear(self) -> None:
        """Forget everything and free the memory."""
        self._slabs.forget()
        self.slots = []

    def seat(self, prompts: Sequence[Tokens], tags: Sequence[Hashable], tokens: int) -> list[int]:
        """Give each prompt a slot below ``len(prompts)`` that holds the longest beginning known to the cache.

        Args:
            prompts: what is to be read.
            tags: what else the keys and values depend on.
            tokens: how far a row may grow.

        Returns:
            A slot per prompt. ``slots[slot].tokens`` need not be fed; at least one token of the prompt remains.
        """
        self._clock += 1
        matches = [[_shared(prompt, tag, slot) for slot in self.slots] for prompt, tag in zip(prompts, tags, strict=True)]
        owned = self._owners(matches)
        seats = _targets(owned, len(prompts))
        capacity, most = self._size(tokens, len(prompts))
        guests = self._guests(set(owned.values()), len(prompts), most, capacity)
        sources = [owned.get(row, int(np.argmax(lengths)) if lengths else None) for row, lengths in enumerate(matches)]
        slots = {guest: self.slots[source] for source, guest in guests.items()}
        moves = [Move(source, guest, len(self.slots[source].tokens)) for source, guest in guests.items()]
        for row, source in enumerate(sources):
            kept = 0 if source is None else matches[row][source]
            slots[seats[row]] = Slot(prompts[row][:kept], tags[row], self._clock)
            if source is not None and kept:
                moves.append(Move(source, seats[row], kept))
        size = max(min(self._slabs.window.slots, most), *(slot + 1 for slot in slots))
        self._slabs.arrange(size, capacity, moves)
        self.slots = [slots.get(index, Slot()) for index in range(size)]
        return seats

    def copy(self, source: int, target: int, length: int) -> None:
        """Let the slot ``target`` begin as ``source`` does, for ``length`` tokens."""
        self._slabs.copy(source, target, length)
        self.slots[target].tokens = self.slots[source].tokens[:length]

    @contextmanager
    def feeding(self, rows: slice, new: Sequence[Tokens], device: torch.device) -> Iterator[tuple[Tensor, Tensor, Tensor | None]]:
        """A context for one forward pass over neighbouring slots, each fed its ``new`` tokens (none: it idles).

        Yields:
            ids and positions ``[B, T']``, padded on the right, and what each token may see: bool ``[B, 1, T', T]``, or None for the plain
            causal pattern. At its end the slots have grown.
        """
        steady = device.type == "cpu"
        slots, width = self.slots[rows], max(-(-ROWS // len(new)) if steady else 1, *map(len, new))
        starts = [len(slot.tokens) for slot in slots]
        ids = np.zeros((len(new), width), dtype=np.int64)
        for row, tokens in enumerate(new):
            ids[row, : len(tokens)] = tokens
        places = self._slabs.aim(rows, starts, width, device)
        seen = torch.arange(self._slabs.window.end, device=device) <= places[:, None, :, None] if steady or any(starts) else None
        yield torch.from_numpy(ids).to(device), places, seen
        for slot, tokens in zip(slots, new, strict=True):
            slot.tokens = np.concatenate([slot.tokens, tokens])

    def _owners(self, matches: list[list[int]]) -> dict[int, int]:
        """Slot by row, where a row goes on with a slot's conversation and may take it over in place."""
        ranked = sorted((-length, row, slot) for row, lengths in enumerate(matches) for slot, length in enumerate(lengths))
        owned: dict[int, int] = {}
        for length, row, slot in ranked:
            if -2 * length > len(self.slots[slot].tokens) and row not in owned and slot not in owned.values():
                owned[row] = slot
        return owned

    def _size(self, tokens: int, count: int) -> tuple[int, int]:
        """Tokens per slot, and the most slots that the budget then allows."""
        capacity = self._slabs.window.capacity
        if tokens >= capacity:
            capacity = _rounded(tokens + tokens // 4)
        if count * capacity > self._budget:
            capacity = _rounded(tokens)
        return capacity, max(count, self._budget // capacity)

    def _guests(self, owned: set[int], count: int, most: int, capacity: int) -> dict[int, int]:
        """New slot by old slot, of the conversations outside the batch that are kept."""
        others = [i for i, slot in enumerate(self.slots) if i not in owned and 0 < len(slot.tokens) < capacity]
        fresh = {i for i in others if self._clock - self.slots[i].used <= _FRESH}
        staying = {i for i in others if count <= i < most}
        spare = iter([i for i in range(count, most) if i not in staying or i not in fresh])
        homeless = sorted(fresh - staying, key=lambda i: -self.slots[i].used)
        moved = dict(zip(homeless, spare, strict=False))
        return {i: i for i in staying - set(moved.values())} | moved


def common_prefix(first: Tokens, second: Tokens) -> int:
    """Length of the longest common beginning."""
    length = min(len(first), len(second))
    differs = first[:length] != second[:length]
    place = int(differs.argmax()) if length else 0
    return place if length and differs[place] else length


def _shared(prompt: Tokens, tag: Hashable, slot: Slot) -> int:
    return min(common_prefix(prompt, slot.tokens), len(prompt) - 1) if slot.tag == tag else 0


def _targets(owned: dict[int, int], count: int) -> list[int]:
    """A slot below ``count`` per row: its own where that is one of them."""
    fixed = {row: slot for row, slot in owned.items() if slot < count}
    free = iter(sorted(set(range(count)) - set(fixed.values())))
    return [fixed[row] if row in fixed else next(free) for row in range(count)]


def _rounded(tokens: int) -> int:
    return -(-(tokens + 1) // _ROOM) * _ROOM
