"""Probabilities of other tokens than the drawn ones, at the same places and from the same forward pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import torch
from torch import Tensor
from torch.nn.functional import pad

from xplearn.interfaces.policy import NO_ID, Support
from xplearn.policies.network import Network
from xplearn.policies.scoring import Place, Target, distribution, index, of_drawn, uncertain

NEVER = float("-inf")


def score_beside(
    network: Network, targets: Sequence[Target], asked: Sequence[Tensor], into: Tensor, *, limit: int
) -> tuple[Tensor, Tensor]:
    """As ``scoring.score``, and ``[B, T, K]`` with the log-probabilities of the ids that are asked for.

    Args:
        network: the forward pass.
        targets: what to score.
        asked: per row int64 ``[t, K]``; those of rows without a target are not looked at.
        into: float32 ``[B, T]``.
        limit: padded tokens of one forward pass.
    """
    wide = max((ids.shape[1] for ids in asked), default=0)
    support = _forced(targets, asked, into.new_full((*into.shape, wide), NEVER))
    found = []
    for places, states in uncertain(network, targets, limit=limit):
        logprobs = distribution(network, states, places)
        at = index(places, into.device)
        into = into.index_put(at, of_drawn(logprobs, places))
        found.append((*at, _beside(logprobs, asked_at(places, asked, wide, into.device))))
    if not found:
        return into, support
    rows, columns, values = (torch.cat(parts) for parts in zip(*found, strict=True))
    return into, support.index_put((rows, columns), values)


@torch.no_grad()
def likeliest(network: Network, targets: Sequence[Target], k: int | None, *, limit: int) -> dict[int, Support]:
    """Per row, the likeliest ids each token could have been, at most ``k``; without ``k`` all of them.

    Args:
        network: the forward pass.
        targets: the completions.
        k: at least 1, or None.
        limit: padded tokens of one forward pass.
    """
    rooms = {target.row: _room(target, network.vocabulary, k) for target in targets}
    found = {target.row: _blank(target, rooms[target.row], network) for target in targets}
    for places, states in uncertain(network, targets, limit=limit):
        _fill(found, distribution(network, states, places), places)
    return found


def _room(target: Target, vocabulary: int, k: int | None) -> int:
    """K: how many ids are listed for each token of a completion."""
    most = vocabulary if target.allowed is None else max((len(ids) for ids in target.allowed if ids is not None), default=1)
    return most if k is None else min(k, most)


def _blank(target: Target, room: int, network: Network) -> Support:
    """What is listed before anything was read: the whole vocabulary at every token, or each token that was the only choice."""
    size = len(target.completion), room
    logprobs = torch.full(size, NEVER, device=network.device)
    if room == network.vocabulary:
        return Support(ids=torch.arange(room, device=network.device).expand(size), logprobs=logprobs)
    ids = torch.full(size, NO_ID, dtype=torch.int64, device=network.device)
    forced = ~torch.tensor(target.uncertain, device=network.device)
    ids[forced, 0] = torch.from_numpy(target.completion).to(network.device)[forced]
    logprobs[forced, 0] = 0.0
    return Support(ids=ids, logprobs=logprobs)


def _fill(found: dict[int, Support], logprobs: Tensor, places: Sequence[Place]) -> None:
    """List what is likeliest by ``[P, V]`` at some places."""
    rooms = {row: found[row].ids.shape[1] for row, _, _ in _runs(places)}
    whole = logprobs.shape[1]
    values, ids = logprobs.topk(max((room for room in rooms.values() if room < whole), default=0))
    for row, columns, part in _runs(places):
        room, kept = rooms[row], found[row]
        kept.logprobs[columns] = logprobs[part] if room == whole else values[part, :room]
        if room < whole:
            kept.ids[columns] = ids[part, :room].masked_fill(values[part, :room].isneginf(), NO_ID)


def _forced(targets: Sequence[Target], asked: Sequence[Tensor], support: Tensor) -> Tensor:
    """``support`` with probability 1 where a token that was the only choice is asked for."""
    for target in targets:
        forced = ~torch.tensor(target.uncertain, device=support.device)
        if forced.any():
            ids = asked[target.row].to(support.device)
            same = (ids == torch.from_numpy(target.completion).to(support.device)[:, None]) & forced[:, None]
            support[target.row, : len(ids), : ids.shape[1]].masked_fill_(same, 0.0)
    return support


def asked_at(places: Sequence[Place], asked: Sequence[Tensor], wide: int, device: torch.device) -> Tensor:
    """int64 ``[P, K]``: what is asked for at some places, wherever each row's ids lie."""
    parts = [asked[row][columns].to(device) for row, columns, _ in _runs(places)]
    return torch.cat([pad(ids, (0, wide - ids.shape[1]), value=NO_ID) for ids in parts])


def _beside(logprobs: Tensor, ids: Tensor) -> Tensor:
    """``[P, K]`` of ``[P, V]``. An id that is missing, or could not be drawn, takes no gradient, not even one that is not finite."""
    whole = ids.shape == logprobs.shape and bool((ids == torch.arange(ids.shape[1], device=ids.device)).all())
    values = logprobs if whole else logprobs.gather(1, ids.clamp(min=0))
    barred = (ids == NO_ID) | values.detach().isneginf()
    return values.masked_fill(barred, NEVER) if barred.any() else values


def _runs(places: Sequence[Place]) -> Iterator[tuple[int, list[int], slice]]:
    """Per row of the result: its columns, and where they stand among the places."""
    start = 0
    for row, run in groupby(places, key=lambda place: place[0].row):
        columns = [column for _, column in run]
        yield row, columns, slice(start, start + len(columns))
        start += len(columns)
