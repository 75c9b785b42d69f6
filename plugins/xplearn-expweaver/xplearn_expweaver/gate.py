"""How a vector of experience enters the hidden state; ``e`` has the length of ``h``."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class Gated(nn.Module):
    """The gated residual [P], a norm-preserving interpolation per channel; gates and Lambda as in HRPO [L].

    ``r = sigmoid(W_r h + b_r)``, ``i = sigmoid(W_i h + b_i)``, ``a = exp(-c softplus(-Lambda) r)``,
    ``h' = a h + sqrt(1 - a^2 + 1e-8) (i e)``.

    Lambda starts where ``a = rho^r`` with rho uniform in ``[r_min, r_max]``: rho is the least weight that the stream can have.
    """

    def __init__(self, width: int, *, r_min: float, r_max: float, c: float) -> None:
        super().__init__()
        self.c = c
        self.retain = nn.Linear(width, width)
        self.input = nn.Linear(width, width)
        rho = r_min + (r_max - r_min) * torch.rand(width, dtype=torch.float64)
        self.lambda_ = nn.Parameter(-torch.log(torch.expm1(-torch.log(rho) / c)).float())

    def forward(self, hidden: Tensor, experience: Tensor) -> Tensor:
        """``[P, D]`` from hidden states and aligned experience, ``[P, D]`` each."""
        log_a = -self.c * nn.functional.softplus(-self.lambda_) * self.retain(hidden).sigmoid()
        weight = torch.sqrt(-torch.expm1(2.0 * log_a) + 1e-8)  # 1 - a^2 without the cancellation where a is nearly 1
        mixed: Tensor = log_a.exp() * hidden + weight * (self.input(hidden).sigmoid() * experience)
        return mixed


class Fixed(nn.Module):
    """``a`` is a constant and nothing is learned: an ablation."""

    def __init__(self, a: float) -> None:
        super().__init__()
        self.a = a

    def forward(self, hidden: Tensor, experience: Tensor) -> Tensor:
        """As ``Gated.forward``."""
        return self.a * hidden + math.sqrt(1.0 - self.a**2) * experience


class Added(nn.Module):
    """``h + e``: an ablation."""

    def forward(self, hidden: Tensor, experience: Tensor) -> Tensor:
        """As ``Gated.forward``."""
        return hidden + experience
