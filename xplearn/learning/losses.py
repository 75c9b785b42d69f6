"""Reducing per-token values ``[B, T]`` to one loss, the same whatever way a batch is cut into forward passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Reduction = Literal["token", "trajectory"]
"""``token``: mean over all action tokens of the batch. ``trajectory``: sum over each trajectory's tokens, mean over trajectories."""


def masked_sum(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Sum of ``values`` where ``mask`` is True; scalar. What is masked has no influence, even when it is not finite."""
    return values.masked_fill(~mask, 0.0).sum()


def masked_mean(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of ``values`` where ``mask`` is True; scalar, 0 where nothing is."""
    return masked_sum(values, mask) / mask.sum().clamp(min=1)


def share(reduction: Reduction, *, tokens: int, trajectories: int) -> float:
    """Weight of one token's value in the loss of a batch.

    The loss is ``share * masked_sum``; summed over the forward passes of a batch it does not depend on how they were cut.

    Args:
        reduction: what is averaged.
        tokens: action tokens in the whole batch.
        trajectories: trajectories in the whole batch.
    """
    return 1.0 / max(tokens if reduction == "token" else trajectories, 1)
