"""GRPO's objective and, on the student's own tokens, the reverse KL divergence from the policy with experience."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch.nn.functional import pad

from xplearn import ContractError, LocalPolicy
from xplearn.learning.drawn import NO_ID, Drawn, Scored, likely, scored
from xplearn.learning.losses import Reduction, reverse_kl, reverse_kl_sampled, share
from xplearn.learning.surrogate import Surrogate, per_token
from xplearn_edge.teacher import Lesson

Divergence = Literal["sampled", "teacher_topk", "exact"]
"""``sampled``: at the drawn tokens, by the score function. ``teacher_topk``: over the teacher's likeliest tokens, both renormalised.
``exact``: over everything that could have been drawn."""


@dataclass(kw_only=True)
class DistillSurrogate(Surrogate):
    """``L_GRPO + coefficient * average over taught tokens of weight * KL(student || stop-gradient teacher)`` [P].

    The teacher reads what the student reads in the same pass, without gradients: its weights are those before the step, and nothing that
    it says is kept for longer than the pass.
    """

    policy: LocalPolicy
    lessons: Mapping[str, Lesson]
    """By id of the student's trajectory."""
    coefficient: float
    """Lambda."""
    rkl: Divergence
    top_k: int
    """Tokens that ``teacher_topk`` compares."""
    reduction: Reduction
    """What the divergence is averaged over, among what is taught in a step."""
    micro_tokens: int
    _told: torch.Tensor | None = field(default=None, init=False)
    """Log-probabilities ``[N, K]`` that the teacher gives to what ``support`` asked for."""

    def needs(self, item: Drawn) -> bool:
        return super().needs(item) or self._teaches(item)

    def begin(self, batch: Sequence[Drawn]) -> None:
        super().begin(batch)
        teachers = self._teachers(batch)
        self._share = share(self.reduction, tokens=sum(item.tokens for item in teachers), trajectories=len(teachers))

    def support(self, items: Sequence[Drawn]) -> list[torch.Tensor] | None:
        """What the teacher finds likely at each token that it teaches."""
        self._told = None
        if self.rkl == "sampled" or not self._teachers(items):
            return None
        k = self.top_k if self.rkl == "teacher_topk" else None
        found = likely(self.policy, self._teachers(items), k, micro_tokens=self.micro_tokens)
        width = max(part.ids.shape[1] for part in found)
        self._told = torch.cat([_widened(part.logprobs, width, -torch.inf) for part in found])
        asked = iter(found)
        return [self._spread(item, next(asked).ids if self._teaches(item) else None) for item in items]

    def loss(self, items: Sequence[Drawn], scores: Scored) -> tuple[torch.Tensor, Mapping[str, torch.Tensor]]:
        """As ``Surrogate.loss``. Reports ``divergence``, in nats, at what is ``taught``, the share of tokens it is of."""
        loss, sums = super().loss(items, scores)
        if not self._teachers(items):
            return loss, sums
        weight = per_token([value for item in items for value in self._weights_of(item)], items, scores.logprobs)
        taught = weight > 0
        value, measured = self._divergence(items, scores, taught)
        term = self.coefficient * self._share * (weight[taught] * value).sum()
        return loss + term, {**sums, "divergence": measured.sum(), "taught": taught.sum()}

    def _divergence(self, items: Sequence[Drawn], scores: Scored, taught: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """At each taught token what is differentiated, and the divergence: where it is sampled, the two are not the same."""
        if self.rkl == "sampled":
            student = scores.logprobs[taught]
            teacher = torch.cat(scored(self.policy, self._teachers(items), micro_tokens=self.micro_tokens)).to(student)
            return reverse_kl_sampled(student, teacher), student.detach() - teacher
        if scores.support is None or self._told is None:
            raise ContractError("edge.distill", "was not asked for its support before the pass")
        value = reverse_kl(scores.support[taught], self._told.to(scores.support), renormalise=self.rkl == "teacher_topk")
        return value, value.detach()

    def _teaches(self, item: Drawn) -> bool:
        return self.coefficient > 0 and item.trajectory.id in self.lessons

    def _teachers(self, items: Iterable[Drawn]) -> list[Drawn]:
        """The teacher's side of those that are taught."""
        return [self.lessons[item.trajectory.id].teacher for item in items if self._teaches(item)]

    def _weights_of(self, item: Drawn) -> Sequence[float]:
        return self.lessons[item.trajectory.id].weights if self._teaches(item) else [0.0] * len(item.completions)

    def _spread(self, item: Drawn, ids: torch.Tensor | None) -> torch.Tensor:
        """The ids ``[n, K]`` of the taught tokens at their places among all tokens of a trajectory."""
        if ids is None:
            return torch.full((item.tokens, 1), NO_ID, dtype=torch.int64)
        if len(ids) == item.tokens:
            return ids  # not copied: the whole vocabulary at every token may be one row, seen many times
        weight = per_token(self._weights_of(item), [item], torch.zeros(0, device=ids.device))
        spread = torch.full((item.tokens, ids.shape[1]), NO_ID, dtype=torch.int64, device=ids.device)
        spread[weight > 0] = ids
        return spread


def _widened(values: torch.Tensor, width: int, filling: float) -> torch.Tensor:
    return pad(values, (0, width - values.shape[1]), value=filling)
