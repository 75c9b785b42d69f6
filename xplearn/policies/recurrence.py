"""Thoughts: vectors that a policy carries from one drawn token into the next, beside the token itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Recurrence(nn.Module, ABC):
    """Lets what the policy thought when it drew a token into the input embedding of that token.

    Works on drawn tokens only: prompts, and tokens that were certain, are read as they are. Thoughts are kept with the completion and given
    back when it is scored, so that drawing step by step and scoring in one pass are the same computation; no gradient runs through
    them, it reaches this module and the weights.
    """

    site: str = "input"
    """Between the embedding of tokens and the first layer."""
    needs_memory: bool = False
    """Nothing is carried from places where no latent memory was read: the plain arm is as without this module."""

    @abstractmethod
    def think(self, hidden: Tensor, logits: Tensor, embeddings: Tensor) -> Tensor:
        """What is carried on from the place where a token is drawn. Never asked for gradients.

        Args:
            hidden: float32 ``[B, D]``, the state that the token is drawn from.
            logits: float32 ``[B, V]`` at temperature 1.
            embeddings: ``[V, D]`` of the vocabulary.

        Returns:
            float32 ``[B, D]``.
        """

    @abstractmethod
    def read(self, embedded: Tensor, thoughts: Tensor) -> Tensor:
        """Input embeddings of drawn tokens with their thoughts read in.

        Args:
            embedded: float32 ``[P, D]``.
            thoughts: float32 ``[P, D]``.

        Returns:
            float32 ``[P, D]``.
        """


class Thoughts:
    """The thoughts that a forward pass reads: one vector for some of its tokens."""

    def __init__(self, vectors: Tensor, where: Tensor) -> None:
        """``vectors`` float32 ``[P, D]`` for the places where ``where``, bool ``[B, T]``, is True, in its order."""
        self.vectors, self.where = vectors, where

    @staticmethod
    def of(rows: Sequence[tuple[int, Tensor | None]], width: int, device: torch.device) -> Thoughts | None:
        """Lay thoughts out for a forward pass; None where no row has any.

        Args:
            rows: per row where its first thought goes, and the thoughts ``[N, D]`` of tokens in sequence; NaN where a token has none.
            width: tokens T of the pass.
            device: where it is computed.
        """
        where = torch.zeros(len(rows), width, dtype=torch.bool, device=device)
        vectors = []
        for row, (start, thoughts) in enumerate(rows):
            if thoughts is None or not len(thoughts):
                continue
            found = thoughts.to(device=device, dtype=torch.float32)
            there = ~found.isnan().any(-1)
            where[row, start : start + len(found)] = there
            vectors.append(found[there])
        return Thoughts(torch.cat(vectors), where) if vectors else None

    def into(self, recurrence: Recurrence, embedded: Tensor) -> Tensor:
        """Embeddings ``[B, T, D]`` with the thoughts read in."""
        read = recurrence.read(embedded[self.where].float(), self.vectors)
        return embedded.masked_scatter(self.where[..., None], read.to(embedded.dtype))
