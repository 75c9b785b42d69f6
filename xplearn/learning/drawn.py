"""What a policy drew, to be scored exactly as it was drawn: the data of every policy gradient."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch

from xplearn.errors import ContractError
from xplearn.interfaces.policy import LocalPolicy
from xplearn.learning.batching import packed_length
from xplearn.types import Completion, Conditioning, Step, Trajectory

Choices = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The steps of one trajectory as rows for ``LocalPolicy.score``, and what is known of their N tokens."""

    trajectory: Trajectory
    conditionings: tuple[Conditioning, ...]
    """Experience included, in words and as memory."""
    completions: tuple[Completion, ...]
    """As recorded: temperature, choices and what was retrieved."""
    choices: tuple[Choices, ...]
    """The candidates of each step."""
    tokens: int
    """N: drawn tokens, invalid steps included; those that were the only choice have log-probability 0."""
    positions: int
    """Tokens that a packed forward pass reads: shared prompt prefixes count once."""
    advantages: tuple[float, ...]
    """One for each completion: that of every token of the step."""
    counts: bool = True
    """Whether it weighs in the averages of the policy gradient's objective; one that does not may still carry another term."""
    old: torch.Tensor | None = None
    """float32 ``[N]``: log-probabilities when the tokens were drawn; None where the policy is still the one that drew them."""
    reference: torch.Tensor | None = None
    """float32 ``[N]``: log-probabilities under the reference policy; None where there is none."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the trajectory that the completions are of."""
        return _drawn_steps(self.trajectory)


def drawn(trajectory: Trajectory, *, learner: str) -> Drawn:
    """All steps of a trajectory but those that did not fit the context, where nothing was drawn.

    Raises:
        ContractError: a step carries no tokens; ``learner`` names who asked.
    """
    steps = _drawn_steps(trajectory)
    rows = tuple(step.completion for step in steps)
    if not all(row.token_ids for row in rows):
        raise ContractError(learner, f"trajectory '{trajectory.id}' has steps without tokens; the policy that acts must record them")
    return Drawn(
        trajectory=trajectory,
        conditionings=tuple(step.conditioning for step in steps),
        completions=rows,
        choices=tuple(step.query.candidates for step in steps),
        tokens=sum(len(row.token_ids) for row in rows),
        positions=packed_length(rows),
        advantages=(0.0,) * len(rows),
    )


def recorded(item: Drawn, *, learner: str) -> torch.Tensor:
    """The log-probabilities ``[N]`` that the rollout recorded.

    Raises:
        ContractError: there are none, or they are those of a nucleus, which scoring cannot give again.
    """
    for row in item.completions:
        if row.logprobs is None or len(row.logprobs) != len(row.token_ids):
            raise ContractError(learner, f"trajectory '{item.trajectory.id}' has no log-probabilities of its tokens; set old=rescored")
        if row.sampling.top_p < 1.0:
            raise ContractError(
                learner, f"tokens were drawn with top_p={row.sampling.top_p} and are scored without; set sampling.top_p=1 or old=rescored"
            )
    return torch.tensor([value for row in item.completions for value in row.logprobs or ()], dtype=torch.float32)


def logprobs(policy: LocalPolicy, items: Sequence[Drawn]) -> torch.Tensor:
    """Log-probability of every token ``[N]`` of some trajectories, one after the other, in one call of ``score``."""
    scores = policy.score(
        [row for item in items for row in item.conditionings],
        [row for item in items for row in item.completions],
        [row for item in items for row in item.choices],
    )
    return scores.logprobs[scores.mask]


@torch.no_grad()
def scored(policy: LocalPolicy, items: Sequence[Drawn], *, micro_tokens: int) -> list[torch.Tensor]:
    """As ``logprobs``, one tensor for each trajectory, in forward passes of bounded size and without gradients."""
    found: list[torch.Tensor] = []
    for group in passes(items, micro_tokens):
        found += torch.split(logprobs(policy, group), [item.tokens for item in group])
    return found


def passes(items: Iterable[Drawn], micro_tokens: int) -> list[list[Drawn]]:
    """Neighbours grouped so that one forward pass reads about ``micro_tokens`` positions at most (or holds a single trajectory).

    Trajectories that open alike stay together as far as they fit, because their opening is then read once.
    """
    found: list[list[Drawn]] = []
    room = 0
    for _, alike in groupby(items, key=_opening):
        for piece in _pieces(alike, micro_tokens):
            if found and positions(piece) <= room:
                found[-1] += piece
            else:
                found.append(piece)
                room = micro_tokens
            room -= positions(piece)
    return found


def positions(items: Iterable[Drawn]) -> int:
    """Tokens that one forward pass of some trajectories reads: an opening that neighbours share counts once."""
    total = 0
    for opening, alike in groupby(items, key=_opening):
        total += len(opening) + sum(item.positions - len(opening) for item in alike)
    return total


def _pieces(alike: Iterable[Drawn], micro_tokens: int) -> list[list[Drawn]]:
    """Trajectories that open alike, cut where they do not fit one pass."""
    found: list[list[Drawn]] = []
    for item in alike:
        if found and positions([*found[-1], item]) <= micro_tokens:
            found[-1].append(item)
        else:
            found.append([item])
    return found


def _drawn_steps(trajectory: Trajectory) -> tuple[Step, ...]:
    return tuple(step for step in trajectory.steps if step.completion.finish != "context")


def _opening(item: Drawn) -> tuple[int, ...]:
    return item.completions[0].prompt_ids
