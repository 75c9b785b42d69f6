"""What a policy drew, to be scored exactly as it was drawn: the data of every policy gradient."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch.nn.functional import pad

from xplearn.errors import ContractError
from xplearn.interfaces.policy import NO_ID, LocalPolicy, Support
from xplearn.learning.batching import packed_length
from xplearn.types import Completion, Conditioning, Step, Trajectory

__all__ = ["NO_ID", "Drawn", "Scored", "drawn", "likely", "passes", "positions", "read", "recorded", "scored"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one forward pass says of the N tokens of some trajectories, one after the other."""

    logprobs: torch.Tensor
    """float32 ``[N]``, nats: of the drawn tokens; those that were the only choice have 0."""
    support: torch.Tensor | None = None
    """float32 ``[N, K]``, nats: of the ids that were asked for besides, -inf where there is none; None where none were asked for."""


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


def read(policy: LocalPolicy, items: Sequence[Drawn], support: Sequence[torch.Tensor] | None = None) -> Scored:
    """Log-probabilities of every token of some trajectories, in one call of ``score``; gradients flow where they are enabled.

    Args:
        policy: whose they are.
        items: trajectories.
        support: per trajectory int64 ``[n, K]``, other ids to look at where its n tokens were drawn; K may differ.
    """
    rows = _conditionings(items), _completions(items), _choices(items)
    if support is None:
        scores = policy.score(*rows)
        return Scored(logprobs=scores.logprobs[scores.mask])
    lengths = [[len(row.token_ids) for row in item.completions] for item in items]
    asked = [part for ids, counts in zip(support, lengths, strict=True) for part in torch.split(ids, counts)]
    scores = policy.score(*rows, support=asked)
    return Scored(logprobs=scores.logprobs[scores.mask], support=None if scores.support is None else scores.support[scores.mask])


@torch.no_grad()
def scored(policy: LocalPolicy, items: Sequence[Drawn], *, micro_tokens: int) -> list[torch.Tensor]:
    """Log-probability ``[n]`` of every token of each trajectory, in forward passes of bounded size and without gradients."""
    found: list[torch.Tensor] = []
    for group in passes(items, micro_tokens):
        found += torch.split(read(policy, group).logprobs, [item.tokens for item in group])
    return found


def likely(policy: LocalPolicy, items: Sequence[Drawn], k: int | None, *, micro_tokens: int) -> list[Support]:
    """What the n tokens of each trajectory could have been, as ``LocalPolicy.likely``, in forward passes of bounded size.

    Without ``k`` that is the whole vocabulary at every token: ask for no more trajectories than one pass needs.
    """
    found: list[Support] = []
    for group in passes(items, micro_tokens):
        rows = iter(policy.likely(_conditionings(group), _completions(group), _choices(group), k=k))
        found += [_one_after_the_other([next(rows) for _ in item.completions]) for item in group]
    return found


def _conditionings(items: Iterable[Drawn]) -> list[Conditioning]:
    return [row for item in items for row in item.conditionings]


def _completions(items: Iterable[Drawn]) -> list[Completion]:
    return [row for item in items for row in item.completions]


def _choices(items: Iterable[Drawn]) -> list[Choices]:
    return [row for item in items for row in item.choices]


def _one_after_the_other(parts: Sequence[Support]) -> Support:
    """The tokens of several completions as those of one; ids that are the same at all of them are held once."""
    width = max(part.ids.shape[1] for part in parts)
    common = parts[0].ids[:1]
    if all(part.ids.shape[1] == width and bool((part.ids == common).all()) for part in parts):
        ids = common.expand(sum(len(part.ids) for part in parts), -1)
    else:
        ids = torch.cat([pad(part.ids, (0, width - part.ids.shape[1]), value=NO_ID) for part in parts])
    logprobs = [pad(part.logprobs, (0, width - part.logprobs.shape[1]), value=float("-inf")) for part in parts]
    return Support(ids=ids, logprobs=torch.cat(logprobs))


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
