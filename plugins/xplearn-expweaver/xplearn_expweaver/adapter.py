"""The adapter: retrieve at each position, pool, align, and mix into the hidden state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn

from xplearn.policies.adapter import RetrievingAdapter
from xplearn_expweaver.search import Ready

_EPS = 1e-6


class LatentAdapter(RetrievingAdapter):
    """Experience woven into the hidden state after the final norm, where the stored states were taken: one space.

    The next token is predicted from the changed state, which never enters the network again: all positions can be computed at once.
    """

    def __init__(self, *, k: int, pooling: nn.Module, gate: nn.Module, every: Literal["token", "completion"] = "token") -> None:
        """Made of its parts.

        Args:
            k: states retrieved at a position, at most.
            pooling: from hidden states ``[P, D]``, states ``[P, K, D]`` and mask ``[P, K]`` to ``[P, D]``.
            gate: from hidden states and aligned experience, ``[P, D]`` each, to ``[P, D]``.
            every: retrieve at each decoding step, or once for a completion.
        """
        super().__init__()
        self.k, self.every = k, every
        self.pooling, self.gate = pooling, gate
        self._ready = Ready()

    def retrieve(self, hidden: Tensor, bank: Tensor, barred: Sequence[tuple[int, ...]]) -> Tensor:
        """The ``k`` rows nearest by cosine."""
        return self._ready(bank).nearest(hidden, self.k, barred)

    def read(self, hidden: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """As ``RetrievingAdapter.read``."""
        mixed: Tensor = self.gate(hidden, aligned(self.pooling(hidden, states, mask), hidden))
        return mixed


def aligned(experience: Tensor, hidden: Tensor) -> Tensor:
    """The experience ``[P, D]``, as long as the hidden state it is to enter."""
    scale: Tensor = hidden.norm(dim=-1, keepdim=True) / (experience.norm(dim=-1, keepdim=True) + _EPS)
    return experience * scale
