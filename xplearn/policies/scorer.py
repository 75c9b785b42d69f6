"""Scoring recorded completions with an engine: what was said, orders of candidates, and what could have been said instead."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from xplearn.errors import ContractError
from xplearn.interfaces.policy import AllChoices, Support, TokenScores
from xplearn.policies.engine import NAME, Engine
from xplearn.policies.ranker import Ranker
from xplearn.policies.scoring import Target, score
from xplearn.policies.support import likeliest, score_beside
from xplearn.types import Completion, Conditioning

Row = tuple[Conditioning, Completion, "tuple[str, ...] | None"]


class Scorer:
    """Log-probabilities of completions, under the distribution they were drawn from."""

    def __init__(self, engine: Engine, ranker: Ranker, limit: int) -> None:
        """``limit``: padded tokens of one forward pass."""
        self._engine, self._ranker, self._limit = engine, ranker, limit

    def score(
        self, conditionings: Sequence[Conditioning], completions: Sequence[Completion], choices: AllChoices, asked: Sequence[Tensor] | None
    ) -> TokenScores:
        """As ``LocalPolicy.score``; ``asked`` is its support."""
        rows = list(zip(conditionings, completions, choices, strict=True))
        orders = _orders(rows)
        targets, device = self._targets(rows, orders), self._engine.network.device
        lengths = torch.tensor([len(completion.token_ids) for completion in completions], device=device)
        mask = torch.arange(int(lengths.max()) if rows else 0, device=device) < lengths[:, None]
        empty = torch.zeros(mask.shape, device=device)
        if asked is not None:
            _check_asked(asked, completions, orders)
            logprobs, support = score_beside(self._engine.network, targets, asked, empty, limit=self._limit)
            return TokenScores(logprobs=logprobs, mask=mask, support=support)
        logprobs = score(self._engine.network, targets, empty, limit=self._limit)
        for at, values in zip(orders, self._score_orders([rows[at] for at in orders]), strict=True):
            place = torch.full(values.shape, at, device=device), torch.arange(len(values), device=device)
            logprobs = logprobs.index_put(place, values)
        return TokenScores(logprobs=logprobs, mask=mask)

    def likely(
        self, conditionings: Sequence[Conditioning], completions: Sequence[Completion], choices: AllChoices, k: int | None
    ) -> list[Support]:
        """As ``LocalPolicy.likely``; the caller sees to dropout."""
        if k is not None and k < 1:
            raise ContractError(NAME, f"k={k} lists nothing; ask for 1 id or more, or for all with k=None")
        rows = list(zip(conditionings, completions, choices, strict=True))
        _refuse(_orders(rows))
        found = likeliest(self._engine.network, self._targets(rows, []), k, limit=self._limit)
        nothing = Support(ids=torch.zeros(0, 0, dtype=torch.int64), logprobs=torch.zeros(0, 0))
        return [found.get(at, nothing) for at in range(len(rows))]

    def _targets(self, rows: Sequence[Row], orders: Sequence[int]) -> list[Target]:
        """The completions that say something and are no orders."""
        filled = [at for at, (_, completion, _) in enumerate(rows) if completion.token_ids]
        return [self._engine.target(at, *rows[at]) for at in sorted({*filled} - {*orders})]

    def _score_orders(self, rows: Sequence[Row]) -> list[Tensor]:
        return self._ranker.score([row[0] for row in rows], [row[1] for row in rows], [row[2] or () for row in rows])


def _orders(rows: Sequence[Row]) -> list[int]:
    """Which rows put candidates in order."""
    return [
        at for at, (_, completion, offered) in enumerate(rows) if completion.token_ids and completion.sampling.choices == "rank" and offered
    ]


def _refuse(orders: Sequence[int]) -> None:
    if orders:
        raise ContractError(NAME, "an order of candidates has no other tokens to look at; orders are distilled with rkl=sampled")


def _check_asked(asked: Sequence[Tensor], completions: Sequence[Completion], orders: Sequence[int]) -> None:
    _refuse(orders)
    found, expected = [len(ids) for ids in asked], [len(completion.token_ids) for completion in completions]
    if found != expected:
        raise ContractError(
            NAME, f"support is asked for at {found} tokens of completions that have {expected}; give one row of ids for each token"
        )
