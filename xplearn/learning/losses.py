"""Reducing per-token values ``[B, T]`` to one loss, the same whatever way a batch is cut into forward passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Reduction = Literal["token", "trajectory"]
"""``token``: mean over all action tokens of the batch. ``trajectory``: sum over each trajectory's tokens, mean over trajectories."""

Averaging = Literal["token", "sequence", "constant"]
"""``token``: mean over all tokens of the batch. ``sequence``: mean over each trajectory's tokens, then over trajectories. ``constant``:
sum over each trajectory's tokens divided by a constant, mean over trajectories: a long trajectory then weighs more than a short one."""

_FAR_BELOW = -1e9
"""Nats: a finite log-probability of what has none."""


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


def token_weights(averaging: Averaging, lengths: Sequence[int], *, constant: int = 1) -> list[float]:
    """Per trajectory of a batch, the weight of each of its tokens in the batch's loss; 0 for a trajectory without tokens.

    Summed over whatever forward passes, ``weight * value`` is the average that is meant.

    Args:
        averaging: what is averaged.
        lengths: tokens of each trajectory of the batch.
        constant: what ``constant`` divides by, e.g. the longest completion that could have been drawn.
    """
    if averaging == "token":
        return [1.0 / max(sum(lengths), 1)] * len(lengths)
    return [1.0 / (len(lengths) * (constant if averaging == "constant" else length)) if length else 0.0 for length in lengths]


def clipped(logprobs: torch.Tensor, old: torch.Tensor, advantages: torch.Tensor, *, low: float, high: float) -> torch.Tensor:
    """PPO's clipped loss of each token: minus the smaller of ratio and clipped ratio times the advantage.

    Args:
        logprobs: of the drawn tokens under the policy that is trained, ``[N]``.
        old: under the policy that drew them, ``[N]``.
        advantages: ``[N]``.
        low: the ratio has no pull below ``1 - low``.
        high: nor above ``1 + high``.
    """
    ratio = (logprobs - old).exp()
    return -(ratio * advantages).minimum(ratio.clamp(1 - low, 1 + high) * advantages)


def k3(logprobs: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """KL(policy || reference), estimated at each token drawn from the policy as ``r - log r - 1`` with r = reference / policy."""
    log_ratio = reference - logprobs
    return log_ratio.exp() - log_ratio - 1


def reverse_kl_sampled(student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """At each token drawn from the student, a value ``[N]`` whose gradient is that of KL(student || teacher) in expectation.

    With ``s`` and ``t`` the log-probabilities of the drawn token it is ``stop_gradient(s - t) * s``: the score-function form, because the
    gradient of ``sum_v exp(s_v) (s_v - t_v)`` over the vocabulary is the expectation of ``(s_v - t_v) grad s_v``. Its value
    is not the KL; that is estimated by the mean of ``s - t``.

    Of a sequence, summed over its tokens, it is the gradient of the expected sum of the tokens' KL *with the prefixes held as drawn*: what
    choosing a prefix does to the KL of later tokens is left out, as it is where the KL of each token is taken exactly. It is therefore
    not the gradient of the KL between distributions over whole sequences. [C]

    Args:
        student: log-probabilities of the drawn tokens under the policy that drew them and is trained, ``[N]``, nats, with gradients.
        teacher: under the teacher, ``[N]``; no gradient flows into it.
    """
    return (student - teacher).detach() * student


def reverse_kl(student: torch.Tensor, teacher: torch.Tensor, *, renormalise: bool) -> torch.Tensor:
    """KL(student || teacher) at each place, float32 ``[N]``, nats, on a support of K tokens.

    Entries at which either has -inf are padding and contribute nothing, to the value or to the gradient; a place of nothing else has 0.

    Args:
        student: log-probabilities under the policy that is trained, ``[N, K]``, nats, with gradients.
        teacher: of the same tokens under the teacher, ``[N, K]``; no gradient flows into it.
        renormalise: make both sum to 1 on the support first, e.g. on the teacher's likeliest tokens [C]. Without, the sum is the exact KL
            [P] where the support holds everything that could be drawn, and may be negative where it does not.
    """
    student, teacher = student.float(), teacher.detach().float()
    missing = student.detach().isneginf() | teacher.isneginf()
    student, teacher = _on_support(student, missing, renormalise), _on_support(teacher, missing, renormalise)
    return (student.exp() * (student - teacher)).masked_fill(missing, 0.0).sum(-1)


def _on_support(logprobs: torch.Tensor, missing: torch.Tensor, renormalise: bool) -> torch.Tensor:
    """Log-probabilities with a finite value where there is none, so that no gradient becomes infinite."""
    if not renormalise:
        return logprobs.masked_fill(missing, 0.0)
    return logprobs.masked_fill(missing, _FAR_BELOW).log_softmax(-1)
