"""The one way into the forward pass: a trainable module at a site, armed with latent memory."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal

import torch
from torch import Tensor, nn

from xplearn.errors import ConfigError
from xplearn.policies.recurrence import Recurrence, Thoughts
from xplearn.types import Memory

__all__ = ["Adapter", "MemoryBatch", "Recurrence", "Retrieved", "RetrievingAdapter", "Sites"]


class Adapter(nn.Module, ABC):
    """Lets latent memory change hidden states at one place of the network.

    Works position by position: one token with a cache gives what all tokens at once give, and rows do not see each other. At
    initialisation its effect is near zero. Rows with an empty memory never reach it, so they come back bit-identical.
    """

    site: str
    """``norm``: after the final norm, just before the vocabulary; ``layers.<i>``: between decoder layers ``i`` and ``i + 1``."""

    @abstractmethod
    def forward(self, hidden: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Hidden states with memory read in.

        Args:
            hidden: float32 ``[B, T, D]``.
            memory: float32 ``[B, M, D]``, padded with zeros.
            memory_mask: bool ``[B, M]``, True at real memory rows; at least one in each row.

        Returns:
            float32 ``[B, T, D]``.
        """


class RetrievingAdapter(Adapter):
    """Reads, at each position, only those memory rows that it retrieves there.

    The rows are chosen by the hidden state of the position itself, among all rows of the memory: at every decoding step anew, or once
    for a completion. What was retrieved is kept with the completion and given back when it is scored, so that both distributions
    are over the same experience. A position that retrieves nothing comes back bit-identical.
    """

    site = "norm"
    every: Literal["token", "completion"] = "token"
    """Retrieve at each decoding step, or at the first one and keep to it."""

    @abstractmethod
    def retrieve(self, hidden: Tensor, bank: Tensor, barred: Sequence[tuple[int, ...]]) -> Tensor:
        """Which rows of the bank to read at each position, best first. Never asked for gradients.

        Args:
            hidden: float32 ``[B, T, D]``.
            bank: float32 ``[M, D]``, at least one row. Rows that act on one bank hand in the same tensor every time, so that what is
                derived from it can be kept.
            barred: per batch row, bank rows that it may not read.

        Returns:
            int64 ``[B, T, K]``; -1, at the end, where fewer are to be had.
        """

    @abstractmethod
    def read(self, hidden: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Hidden states with what was retrieved read in; position by position.

        Args:
            hidden: float32 ``[P, D]``.
            states: float32 ``[P, K, D]``; anything where nothing was retrieved.
            mask: bool ``[P, K]``, True where something was; at least one in each row.

        Returns:
            float32 ``[P, D]``.
        """

    def forward(self, hidden: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """As every adapter: retrieve among the rows of the mask, and read."""
        rows = zip(memory, memory_mask, strict=True)
        memories = [Memory(states=states[mask], ids=tuple(map(str, range(int(mask.sum()))))) for states, mask in rows]
        batch = MemoryBatch.of(memories, hidden.device)
        return hidden if batch is None else self.over(hidden, batch)

    def over(self, hidden: Tensor, memory: MemoryBatch) -> Tensor:
        """Hidden states ``[B, T, D]`` with memory read in; ``memory.retrieved`` says afterwards which rows."""
        with torch.no_grad():
            memory.retrieved = self._retrieved(hidden.detach(), memory)
        mask = memory.retrieved >= 0
        there = mask.any(-1)
        states = memory.gather(memory.retrieved, there)
        return hidden.masked_scatter(there[..., None], self.read(hidden[there], states, mask[there]))

    def _retrieved(self, hidden: Tensor, memory: MemoryBatch) -> Tensor:
        """int64 ``[B, T, K]``: what was recorded, and for rows without a record what is retrieved now."""
        places = hidden.shape[1]
        asked = hidden[:, :1] if self.every == "completion" else hidden
        fresh = [(rows, self.retrieve(asked[rows], bank, barred)) for rows, bank, barred in memory.unrecorded()]
        width = max([found.shape[-1] for _, found in fresh] + [len(token) for kept in memory.recorded for token in kept or ()] + [1])
        result = hidden.new_full((len(hidden), places, width), -1, dtype=torch.int64)
        for rows, found in fresh:
            result[rows, :, : found.shape[-1]] = found.expand(-1, places, -1)
        for row, kept in enumerate(memory.recorded):
            for place, token in enumerate(kept or ()):
                result[row, place, : len(token)] = result.new_tensor(token)
        return result


Retrieved = Sequence[tuple[int, ...]]
"""Per token, the memory rows that were read."""


class MemoryBatch:
    """The latent memory of those rows of a batch that have one."""

    def __init__(
        self, rows: Sequence[int], memories: Sequence[Memory], device: torch.device, recorded: Sequence[Retrieved | None] = ()
    ) -> None:
        self.rows = torch.tensor(rows, device=device)
        """int64 ``[B']``: which rows of the batch."""
        self.recorded: Sequence[Retrieved | None] = recorded or [None] * len(rows)
        """Per row, what a completion is known to have retrieved."""
        self.retrieved: Tensor | None = None
        """int64 ``[B', T, K]``: what a retrieving adapter read last, -1 for nothing."""
        self._memories, self._device = memories, device

    @staticmethod
    def of(
        memories: Sequence[Memory | None], device: torch.device, recorded: Sequence[Retrieved | None] | None = None
    ) -> MemoryBatch | None:
        """The memories of a batch, and what their completions are known to have retrieved; None where no row has any memory."""
        filled = [(row, memory) for row, memory in enumerate(memories) if memory is not None and len(memory.states)]
        if not filled:
            return None
        known = [recorded[row] for row, _ in filled] if recorded is not None else ()
        return MemoryBatch([row for row, _ in filled], [memory for _, memory in filled], device, known)

    @cached_property
    def states(self) -> Tensor:
        """float32 ``[B', M, D]``, padded with zeros."""
        return nn.utils.rnn.pad_sequence([self._on_device(memory) for memory in self._memories], batch_first=True)

    @cached_property
    def mask(self) -> Tensor:
        """Bool ``[B', M]``: neither padding nor barred."""
        mask = torch.zeros(self.states.shape[:2], dtype=torch.bool, device=self._device)
        for row, memory in enumerate(self._memories):
            mask[row, : len(memory.states)] = True
            mask[row, list(memory.barred)] = False
        return mask

    def unrecorded(self) -> Iterator[tuple[list[int], Tensor, list[tuple[int, ...]]]]:
        """Rows without a record by the bank they share: which, the bank ``[M, D]``, and what is barred to each."""
        shared: dict[int, list[int]] = {}
        for row, kept in enumerate(self.recorded):
            if kept is None:
                shared.setdefault(id(self._memories[row].states), []).append(row)
        for rows in shared.values():
            yield rows, self._on_device(self._memories[rows[0]]), [self._memories[row].barred for row in rows]

    def read(self) -> Iterator[tuple[int, list[tuple[int, ...]]]]:
        """Row of the batch and, per place, the memory rows that a retrieving adapter read."""
        if self.retrieved is not None:
            for row, places in zip(self.rows.tolist(), self.retrieved.tolist(), strict=True):
                yield row, [tuple(found for found in place if found >= 0) for place in places]

    def gather(self, retrieved: Tensor, where: Tensor) -> Tensor:
        """The retrieved states ``[P, K, D]`` of the positions ``where`` (bool ``[B', T]``) says."""
        banks: dict[int, Memory] = {id(memory.states): memory for memory in self._memories}
        pool = [self._on_device(memory) for memory in banks.values()]
        starts = dict(zip(banks, accumulate((len(states) for states in pool), initial=0), strict=False))
        offset = torch.tensor([starts[id(memory.states)] for memory in self._memories], device=self._device)
        rows = (retrieved.clamp(min=0) + offset[:, None, None])[where]
        return (pool[0] if len(pool) == 1 else torch.cat(pool))[rows]

    def _on_device(self, memory: Memory) -> Tensor:
        states: Tensor = memory.states.to(device=self._device, dtype=torch.float32)
        return states


class Sites:
    """The adapters attached to a model, and the memory they are armed with."""

    def __init__(self, decoder_layers: Sequence[nn.Module], embedding: nn.Module) -> None:
        """``decoder_layers`` of the model, first to last, and the embedding of its tokens."""
        self._layers, self._embedding = decoder_layers, embedding
        self._adapters: list[Adapter] = []
        self._recurrence: Recurrence | None = None
        self._armed: MemoryBatch | None = None
        self._thoughts: Thoughts | None = None
        self.silent = False
        """While True, every adapter lets everything through unchanged."""
        self.retrieving: RetrievingAdapter | None = None
        """The adapter that retrieves at the norm, if any."""

    def __iter__(self) -> Iterator[tuple[str, nn.Module]]:
        """Adapters, and the recurrence, by name."""
        yield from ((f"{index}.{adapter.site}", adapter) for index, adapter in enumerate(self._adapters))
        if self._recurrence is not None:
            yield f"{len(self._adapters)}.{self._recurrence.site}", self._recurrence

    @property
    def recurrence(self) -> Recurrence | None:
        """What carries thoughts from token to token, unless it is silent."""
        return None if self.silent else self._recurrence

    @property
    def within(self) -> bool:
        """Whether keys and values depend on memory: some adapter sits below the last layer's end."""
        return not self.silent and any(adapter.site != "norm" for adapter in self._adapters)

    def attach(self, adapter: Adapter | Recurrence) -> None:
        """Add an adapter; several at one site act in the order they were attached.

        Raises:
            ConfigError: there is no such site, or what may be there once only is there already.
        """
        if isinstance(adapter, Recurrence):
            self._take_recurrence(adapter)
            return
        retrieving = isinstance(adapter, RetrievingAdapter) and adapter.site == "norm"
        if self._adapters and (retrieving or self.retrieving is not None):
            raise ConfigError(
                "site", "what an adapter retrieves is kept in the place of the memory, which another one reads; attach one of them"
            )
        place = re.fullmatch(r"layers\.(\d+)", adapter.site)
        if place is not None and int(place[1]) < len(self._layers):
            self._layers[int(place[1])].register_forward_hook(self._hook(adapter))
        elif adapter.site != "norm":
            raise ConfigError("site", f"there is no site '{adapter.site}'; sites are norm and layers.0 … layers.{len(self._layers) - 1}")
        self._adapters.append(adapter)
        self.retrieving = adapter if retrieving and isinstance(adapter, RetrievingAdapter) else None

    def _take_recurrence(self, recurrence: Recurrence) -> None:
        if self._recurrence is not None:
            raise ConfigError("site", "a recurrence is attached already; drop one")
        self._recurrence = recurrence
        self._embedding.register_forward_hook(self._think)

    def _think(self, _module: nn.Module, _inputs: Any, embedded: Tensor) -> Tensor:
        if self._thoughts is None or self.recurrence is None:
            return embedded
        return self._thoughts.into(self.recurrence, embedded)

    @contextmanager
    def armed(self, memory: MemoryBatch | None, thoughts: Thoughts | None = None) -> Iterator[None]:
        """A context in which the adapters inside the network read this memory, and its input these thoughts."""
        self._armed, self._thoughts = memory, thoughts
        try:
            yield
        finally:
            self._armed = self._thoughts = None

    def at_norm(self, hidden: Tensor, memory: MemoryBatch | None) -> Tensor:
        """What the adapters after the final norm make of ``[B, T, D]``."""
        for adapter in self._adapters:
            hidden = self._apply(adapter, hidden, memory) if adapter.site == "norm" else hidden
        return hidden

    def _apply(self, adapter: Adapter, hidden: Tensor, memory: MemoryBatch | None) -> Tensor:
        if memory is None or self.silent:
            return hidden
        states = hidden[memory.rows].float()
        if isinstance(adapter, RetrievingAdapter) and adapter is self.retrieving:
            read = adapter.over(states, memory)
        else:
            read = adapter(states, memory.states, memory.mask)
        return hidden.index_copy(0, memory.rows, read.to(hidden.dtype))

    def _hook(self, adapter: Adapter) -> Any:
        def after_layer(_module: nn.Module, _inputs: Any, output: Any) -> Any:
            if isinstance(output, tuple):
                return (self._apply(adapter, output[0], self._armed), *output[1:])
            return self._apply(adapter, output, self._armed)

        return after_layer
