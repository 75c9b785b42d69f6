"""Keys and values of many conversations in one block of memory per layer, written at each row's own length.

``[S, H, T, D]``: slots, key-value heads, tokens, head width. A forward pass sees a *window*:
some neighbouring slots, up to the longest row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers.cache_utils import Cache, CacheLayerMixin

from xplearn.policies.steady import rounded


@dataclass(frozen=True, slots=True)
class Move:
    """The first ``length`` tokens of slot ``source`` go to slot ``target``."""

    source: int
    target: int
    length: int


@dataclass(slots=True)
class Window:
    """What the forward pass under way reads and writes."""

    slots: int = 0
    """Size of the slabs."""
    capacity: int = 0
    """Tokens per slot; the last place is never a real token, padding beyond the end is written there."""
    rows: slice = field(default_factory=lambda: slice(0, 0))
    """The slots of the batch."""
    start: int | None = None
    """Where every row writes, or None where they differ."""
    row_index: Tensor | None = None
    """``[B, 1]``."""
    places: Tensor | None = None
    """Where each row writes, ``[B, T']``."""
    end: int = 0
    """Tokens that can be attended to."""


class SlabLayer(CacheLayerMixin):  # type: ignore[misc]
    """One layer of the slabs, as transformers wants it."""

    def __init__(self, window: Window) -> None:
        super().__init__()
        self._window = window
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        # zeros: a masked place still takes part in a product, and there 0 x NaN would be NaN
        self.keys, self.values = (self._zeros(states, self._window.slots, self._window.capacity) for states in (key_states, value_states))
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Write ``[B, H, T', D]`` and return all that the rows may attend to, as views."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        return self._write(self.keys, key_states), self._write(self.values, value_states)

    def _write(self, slab: Tensor | None, states: Tensor) -> Tensor:
        assert slab is not None  # noqa: S101 - told to the type checker
        window = self._window
        rows = slab[window.rows]
        if window.start is not None:
            rows[:, :, window.start : window.start + states.shape[2]] = states
        else:
            rows[window.row_index, :, window.places] = states.transpose(1, 2)
        return rows[:, :, : window.end]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._window.end, 0

    def get_seq_length(self) -> int:
        return self._window.end

    def get_max_length(self) -> int:
        return -1

    def rebuild(self, slots: int, capacity: int, moves: Sequence[Move]) -> None:
        """Slabs of another size that hold what the moves say."""
        if self.keys is not None and self.values is not None:
            self.keys, self.values = (_moved(slab, self._zeros(slab, slots, capacity), moves) for slab in (self.keys, self.values))

    def carry_out(self, moves: Sequence[Move]) -> None:
        """All moves at once, in place."""
        for slab in (self.keys, self.values):
            if slab is not None:
                held = [slab[move.source, :, : move.length].clone() for move in moves]
                for move, states in zip(moves, held, strict=True):
                    slab[move.target, :, : move.length] = states

    def forget(self) -> None:
        """Free the memory."""
        self.keys = self.values = None
        self.is_initialized = False

    @staticmethod
    def _zeros(like: Tensor, slots: int, capacity: int) -> Tensor:
        return like.new_zeros(slots, like.shape[1], capacity, like.shape[3])


def _moved(old: Tensor, new: Tensor, moves: Sequence[Move]) -> Tensor:
    for move in moves:
        new[move.target, :, : move.length] = old[move.source, :, : move.length]
    return new


class Slabs:
    """The slabs of all layers."""

    def __init__(self, layers: int) -> None:
        self.window = Window()
        self._layers = [SlabLayer(self.window) for _ in range(layers)]
        self.cache = Cache(layers=self._layers)
        """What the model is given."""

    def arrange(self, slots: int, capacity: int, moves: Sequence[Move]) -> None:
        """Set the size, and let every slot begin as the moves say; slots that no move names are free."""
        if (slots, capacity) == (self.window.slots, self.window.capacity):
            real = [move for move in moves if move.source != move.target]
            for layer in self._layers if real else ():
                layer.carry_out(real)
            return
        for layer in self._layers:
            layer.rebuild(slots, capacity, moves)
        self.window.slots, self.window.capacity = slots, capacity

    def copy(self, source: int, target: int, length: int) -> None:
        """Let ``target`` begin as ``source`` does."""
        for layer in self._layers:
            layer.carry_out([Move(source, target, length)])

    def aim(self, rows: slice, starts: Sequence[int], width: int, device: torch.device) -> Tensor:
        """Let the next forward pass write ``width`` tokens to each of these slots, from ``starts`` on; returns their places ``[B, T']``."""
        window = self.window
        places = torch.tensor(starts, device=device)[:, None] + torch.arange(width, device=device)
        window.rows, window.places = rows, places.clamp_(max=window.capacity - 1)
        window.start = starts[0] if len(set(starts)) == 1 else None
        window.row_index = torch.arange(len(starts), device=device)[:, None]
        window.end = min(rounded(max(starts) + width), window.capacity)
        return window.places

    def forget(self) -> None:
        """Free the memory."""
        self.window.slots = self.window.capacity = 0
        for layer in self._layers:
            layer.forget()
