"""The objective of PPO and GRPO: a clipped surrogate of the return, less the divergence from a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from xplearn.learning.drawn import Drawn, Scored
from xplearn.learning.losses import Averaging, clipped, k3, token_weights


@dataclass(kw_only=True)
class Surrogate:
    """Minus the clipped, advantage-weighted ratio of each token, plus ``beta`` times its KL estimate.

    A subclass adds a term by adding to what ``loss`` returns.
    """

    low: float
    """The ratio has no pull below 1 minus this."""
    high: float
    """Nor above 1 plus this."""
    beta: float
    """Weight of the divergence."""
    corrected: bool
    """Whether the divergence is weighted by the ratio, as the surrogate is."""
    averaging: Averaging
    """What is averaged."""
    dual_clip: float | None = None
    """Nor, where the advantage is negative, above this; None for no such bound."""

    def needs(self, item: Drawn) -> bool:
        """Without advantage and reference, or not counted, a trajectory adds nothing, to the loss or to its gradient."""
        return item.counts and (any(item.advantages) or self.beta > 0.0)

    def begin(self, batch: Sequence[Drawn]) -> None:
        """Fix what each trajectory's tokens weigh in the step: nothing where it does not count."""
        longest = max(row.sampling.max_new_tokens for item in batch for row in item.completions)
        counted = [item for item in batch if item.counts]
        weights = token_weights(self.averaging, [item.tokens for item in counted], constant=longest)
        self._weights = {item.trajectory.id: 0.0 for item in batch}
        self._weights |= {item.trajectory.id: weight for item, weight in zip(counted, weights, strict=True)}

    def support(self, items: Sequence[Drawn]) -> list[torch.Tensor] | None:
        """None: the surrogate is of drawn tokens alone."""
        return None

    def loss(self, items: Sequence[Drawn], scores: Scored) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
        """As ``Objective.loss``. Reports ``ratio_mean``, ``clip_share``, ``entropy`` and, with a reference, ``kl``.

        The entropy is estimated by what was drawn: minus its log-probability.
        """
        logprobs = scores.logprobs
        advantage = per_token([value for item in items for value in item.advantages], items, logprobs)
        old = logprobs.detach() if items[0].old is None else joined([item.old for item in items], logprobs)
        losses = clipped(logprobs, old, advantage, low=self.low, high=self.high)
        now = logprobs.detach()
        ratio = (now - old).exp()
        lost = ((ratio < 1 - self.low) & (advantage < 0)) | ((ratio > 1 + self.high) & (advantage > 0))
        if self.dual_clip is not None:
            losses = torch.where(advantage < 0, losses.minimum(-self.dual_clip * advantage), losses)
            lost |= (ratio > self.dual_clip) & (advantage < 0)
        sums = {"ratio_mean": ratio.sum(), "clip_share": lost.sum(), "entropy": -now.sum()}
        if self.beta:
            divergence = k3(logprobs, joined([item.reference for item in items], logprobs))
            divergence = divergence * (logprobs - old).exp() if self.corrected else divergence
            losses, sums["kl"] = losses + self.beta * divergence, divergence.detach().sum()
        weight = per_token([self._weights[item.trajectory.id] for item in items for _ in item.completions], items, logprobs)
        return (weight * losses).sum(), sums


def per_token(values: Sequence[float], items: Sequence[Drawn], like: torch.Tensor) -> torch.Tensor:
    """One value of each step, at each of its tokens: ``[N]``, as ``like`` is."""
    counts = torch.tensor([len(row.token_ids) for item in items for row in item.completions], device=like.device)
    return torch.tensor(values, dtype=like.dtype, device=like.device).repeat_interleave(counts)


def joined(values: Sequence[torch.Tensor | None], like: torch.Tensor) -> torch.Tensor:
    """What is known of each trajectory's tokens, one after the other: ``[N]``, as ``like`` is."""
    return torch.cat([value for value in values if value is not None]).to(like)
