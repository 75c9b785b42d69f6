"""The one way into the forward pass: a trainable module at a site, armed with latent memory."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from xplearn.errors import ConfigError
from xplearn.types import Memory


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


@dataclass(frozen=True, slots=True)
class MemoryBatch:
    """The latent memory of the rows that have one."""

    rows: Tensor
    """int64 ``[B']``: which rows of the batch."""
    states: Tensor
    """float32 ``[B', M, D]``, padded with zeros."""
    mask: Tensor
    """bool ``[B', M]``."""

    @staticmethod
    def of(memories: Sequence[Memory | None], device: torch.device) -> MemoryBatch | None:
        """Stack the memories of a batch; None where no row has any."""
        filled = [(row, memory) for row, memory in enumerate(memories) if memory is not None and len(memory.states)]
        if not filled:
            return None
        states = [memory.states.to(device=device, dtype=torch.float32) for _, memory in filled]
        lengths = torch.tensor([len(rows) for rows in states], device=device)
        padded = nn.utils.rnn.pad_sequence(states, batch_first=True)
        mask = torch.arange(padded.shape[1], device=device) < lengths[:, None]
        return MemoryBatch(torch.tensor([row for row, _ in filled], device=device), padded, mask)


class Sites:
    """The adapters attached to a model, and the memory they are armed with."""

    def __init__(self, decoder_layers: Sequence[nn.Module]) -> None:
        """``decoder_layers`` of the model, first to last."""
        self._layers = decoder_layers
        self._adapters: list[Adapter] = []
        self._armed: MemoryBatch | None = None
        self.silent = False
        """While True, every adapter lets everything through unchanged."""

    def __iter__(self) -> Iterator[tuple[str, Adapter]]:
        """Adapters by name."""
        return ((f"{index}.{adapter.site}", adapter) for index, adapter in enumerate(self._adapters))

    @property
    def within(self) -> bool:
        """Whether keys and values depend on memory: some adapter sits below the last layer's end."""
        return not self.silent and any(adapter.site != "norm" for adapter in self._adapters)

    def attach(self, adapter: Adapter) -> None:
        """Add an adapter; several at one site act in the order they were attached.

        Raises:
            ConfigError: there is no such site.
        """
        place = re.fullmatch(r"layers\.(\d+)", adapter.site)
        if place is not None and int(place[1]) < len(self._layers):
            self._layers[int(place[1])].register_forward_hook(self._hook(adapter))
        elif adapter.site != "norm":
            raise ConfigError("site", f"there is no site '{adapter.site}'; sites are norm and layers.0 … layers.{len(self._layers) - 1}")
        self._adapters.append(adapter)

    @contextmanager
    def armed(self, memory: MemoryBatch | None) -> Iterator[None]:
        """A context in which the adapters inside the network read this memory."""
        self._armed = memory
        try:
            yield
        finally:
            self._armed = None

    def at_norm(self, hidden: Tensor, memory: MemoryBatch | None) -> Tensor:
        """What the adapters after the final norm make of ``[B, T, D]``."""
        for adapter in self._adapters:
            hidden = self._apply(adapter, hidden, memory) if adapter.site == "norm" else hidden
        return hidden

    def _apply(self, adapter: Adapter, hidden: Tensor, memory: MemoryBatch | None) -> Tensor:
        if memory is None or self.silent:
            return hidden
        read = adapter(hidden[memory.rows].float(), memory.states, memory.mask).to(hidden.dtype)
        return hidden.index_copy(0, memory.rows, read)

    def _hook(self, adapter: Adapter) -> Any:
        def after_layer(_module: nn.Module, _inputs: Any, output: Any) -> Any:
            if isinstance(output, tuple):
                return (self._apply(adapter, output[0], self._armed), *output[1:])
            return self._apply(adapter, output, self._armed)

        return after_layer
