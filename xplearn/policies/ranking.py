"""Ranking: candidates scored by the policy, and an order of them drawn from Plackett-Luce."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from xplearn.errors import ConfigError
from xplearn.policies.adapter import MemoryBatch, Retrieved
from xplearn.policies.network import Network
from xplearn.policies.packing import batches, pack
from xplearn.policies.sampling import gumbel, uniforms
from xplearn.policies.scoring import read
from xplearn.types import Memory

Tokens = NDArray[np.int64]


@dataclass(kw_only=True)
class RankingConfig:
    """How candidates are scored."""

    by: Literal["state", "likelihood"] = "state"
    """``state``: cosine of the state after the prompt, memory read in, and the candidate's own last state (ExpWeaver, methods 1.5 [P]).
    ``likelihood``: mean log-probability of the candidate's tokens as a reply."""
    temperature: float = 0.05
    """Of the distribution over orders: scores are divided by it [OURS]."""

    def __post_init__(self) -> None:
        if not 0 < self.temperature < float("inf"):
            raise ConfigError("ranking.temperature", f"must be above 0, not {self.temperature}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One prompt whose candidates are scored by state."""

    prompt: Tokens
    """At least one token."""
    candidates: Sequence[Tokens]
    """Each at least one token."""
    memory: Memory | None = None
    retrieved: Retrieved | None = None
    """The memory rows that were read after the prompt; None to retrieve now."""
    tag: Hashable = None
    """As in ``scoring.Target``."""


def cosines(
    network: Network, rows: Sequence[Ranked], *, bare: Hashable, limit: int
) -> tuple[list[Tensor], list[tuple[tuple[int, ...], ...] | None]]:
    """Per row the cosines float32 ``[C]`` of its candidates, and what was retrieved after its prompt. Gradients flow where enabled.

    Args:
        network: the forward pass.
        rows: prompts and candidates; a text that several rows offer is read once.
        bare: tag of what is read without memory.
        limit: padded tokens of one forward pass.
    """
    places = {key: at for at, key in enumerate(dict.fromkeys(tuple(text.tolist()) for row in rows for text in row.candidates))}
    prompts = [_Text(row.prompt, row.tag, row.memory) for row in rows]
    texts = [_Text(np.array(key, dtype=np.int64), bare, None) for key in places]
    memory = MemoryBatch.of([row.memory for row in rows], network.device, [row.retrieved for row in rows])
    asked = normalize(network.sites.at_norm(_last_states(network, prompts, limit)[:, None], memory)[:, 0].float(), dim=-1)
    offered = normalize(_last_states(network, texts, limit).float(), dim=-1)
    found: list[tuple[tuple[int, ...], ...] | None] = [None] * len(rows)
    for at, kept in memory.read() if memory is not None else ():
        found[at] = tuple(kept)
    index = [[places[tuple(text.tolist())] for text in row.candidates] for row in rows]
    return [offered[which] @ asked[at] for at, which in enumerate(index)], found


def order(scores: Sequence[float], *, key: int, greedy: bool) -> list[int]:
    """Positions of the candidates, best first: drawn from Plackett-Luce over ``scores`` (its logits), or sorted, ties to the earlier."""
    values = np.asarray(scores, dtype=np.float64)
    if not greedy:
        values = values + gumbel(uniforms(key, 0, len(values)))
    return [int(place) for place in np.argsort(-values, kind="stable")]


def plackett_luce(scores: Tensor, order: Sequence[int]) -> Tensor:
    """Log-probability ``[C]`` of each choice of an order, given those before it; the last one's is 0.

    Args:
        scores: logits ``[C]`` of the candidates.
        order: their positions, best first.
    """
    drawn = scores[torch.tensor(order, dtype=torch.int64, device=scores.device)]
    return drawn - drawn.flip(0).logcumsumexp(0).flip(0)


class _Text(NamedTuple):
    """What is read to its end."""

    ids: Tokens
    tag: Hashable
    memory: Memory | None


def _last_states(network: Network, texts: Sequence[_Text], limit: int) -> Tensor:
    """Hidden state ``[N, D]`` after the last token of each text."""
    states: dict[int, Tensor] = {}
    for batch in batches(pack([text.ids for text in texts], [text.tag for text in texts], limit=limit, width=network.width), limit):
        held = [texts[next(iter(item.places))].memory for item in batch]
        hidden = read(network, batch, MemoryBatch.of(held, network.device) if network.sites.within else None)
        states |= {row: hidden[at, int(places[-1])] for at, item in enumerate(batch) for row, places in item.places.items()}
    return torch.stack([states[row] for row in range(len(texts))]) if texts else torch.zeros(0, network.width, device=network.device)
