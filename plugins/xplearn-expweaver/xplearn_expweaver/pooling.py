"""From the K states retrieved at a position to one vector."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

QueryMode = Literal["u", "u_plus_h"]

_TEMPERATURE = 0.05
"""Of the softmax over cosines [OURS]: that of the method's ranking."""
_SPREAD = 0.02
"""Standard deviation of the first query token [OURS]."""
_SMALL, _NARROW = 1024, 256
"""Hidden widths up to the first attend in their own width, larger ones in the second [OURS]."""


class CrossAttention(nn.Module):
    """One head of attention with a learnable query token [P].

    ``alpha = softmax((u W_Q)(Z W_K)^T / sqrt(d_a))``, ``e = alpha (Z W_V) W_O``. The projections of values start as identity, or are left
    out, so that ``e`` starts inside the span of real experience.
    """

    def __init__(self, width: int, *, attention_width: int = 0, query_mode: QueryMode = "u", value_proj: bool = False) -> None:
        super().__init__()
        inner = attention_width or (width if width <= _SMALL else _NARROW)
        self.query_mode = query_mode
        self.u = nn.Parameter(_SPREAD * torch.randn(width))
        self.query = nn.Linear(width, inner, bias=False)
        self.key = nn.Linear(width, inner, bias=False)
        for layer in (self.query, self.key):
            nn.init.xavier_uniform_(layer.weight)
        self.values = nn.Sequential(*(_identity(width) for _ in range(2))) if value_proj else nn.Identity()

    def forward(self, hidden: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """``[P, D]`` from hidden states ``[P, D]``, retrieved states ``[P, K, D]`` and where they are real ``[P, K]``."""
        query = self.u if self.query_mode == "u" else self.u + hidden
        asked = self.query(query) @ self.key.weight  # the K keys are never projected one by one: (u W_Q)(Z W_K)^T = Z (W_K^T W_Q u)
        scores = (states * asked.unsqueeze(-2)).sum(-1) / self.key.out_features**0.5
        pooled: Tensor = self.values(_weighted(_softmax(scores, mask), states))
        return pooled


class Mean(nn.Module):
    """The mean of what was retrieved: an ablation."""

    def forward(self, hidden: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """As ``CrossAttention.forward``."""
        return _weighted(mask / mask.sum(-1, keepdim=True), states)


class Similarity(nn.Module):
    """A softmax over the cosines that retrieved: an ablation."""

    def forward(self, hidden: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """As ``CrossAttention.forward``."""
        cosines = nn.functional.cosine_similarity(hidden[:, None], states, dim=-1)
        return _weighted(_softmax(cosines / _TEMPERATURE, mask), states)


def _identity(width: int) -> nn.Linear:
    layer = nn.Linear(width, width, bias=False)
    nn.init.eye_(layer.weight)
    return layer


def _softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


def _weighted(weights: Tensor, states: Tensor) -> Tensor:
    return (weights[..., None] * states).sum(-2)
