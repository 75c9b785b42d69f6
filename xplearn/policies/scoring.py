"""Log-probabilities of given tokens, read in packed sequences."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from xplearn.policies.adapter import MemoryBatch, Retrieved
from xplearn.policies.network import Network
from xplearn.policies.packing import Packed, batches, pack
from xplearn.policies.recurrence import Thoughts
from xplearn.types import Memory

Tokens = NDArray[np.int64]

Carried = tuple[int, Tensor | None]
"""Where in a sequence thoughts begin, and the thoughts ``[N, D]``."""

_HEAD = 1024
"""Positions whose vocabulary is looked at together: bounds memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One completion to score."""

    row: int
    """Its row in the result."""
    prompt: Tokens
    """At least one token."""
    completion: Tokens
    """At least one token."""
    temperature: float = 1.0
    memory: Memory | None = None
    retrieved: Retrieved | None = None
    """Per token, the memory rows that were read to draw it; None to retrieve now."""
    thoughts: Tensor | None = None
    """``[T, D]``, carried on from the place of each token into its own embedding, NaN where there was nothing."""
    tag: Hashable = None
    """Completions with different tags do not share hidden states."""
    allowed: Sequence[NDArray[np.int64] | None] | None = None
    """Per token the ids it was drawn from, None where it was the only one; None as a whole for the full vocabulary."""

    @property
    def read(self) -> Tokens:
        """What must be read to predict the completion: all but its last token."""
        return np.concatenate([self.prompt, self.completion[:-1]])

    @property
    def carried(self) -> Carried:
        """The thoughts that are read with it. Such a completion is tagged to be the only one of its sequence."""
        return len(self.prompt), None if self.thoughts is None else self.thoughts[: len(self.completion) - 1]

    @property
    def uncertain(self) -> list[bool]:
        """Per token, whether there was a choice; where there was none its log-probability is 0."""
        return [True] * len(self.completion) if self.allowed is None else [ids is not None for ids in self.allowed]


Place = tuple[Target, int]
"""A token of a completion."""


def score(network: Network, targets: Sequence[Target], into: Tensor, *, limit: int) -> Tensor:
    """``into`` with the log-probabilities of the targets written to their rows; gradients flow where they are enabled.

    Args:
        network: the forward pass.
        targets: what to score.
        into: float32 ``[B, T]``.
        limit: padded tokens of one forward pass.
    """
    for places, states in uncertain(network, targets, limit=limit):
        into = into.index_put(index(places, into.device), of_drawn(distribution(network, states, places), places))
    return into


def uncertain(network: Network, targets: Sequence[Target], *, limit: int) -> Iterator[tuple[list[Place], Tensor]]:
    """The tokens that had a choice and the hidden states ``[P, D]`` before them, a bounded number at a time, those of a target together."""
    packed = pack([target.read for target in targets], [target.tag for target in targets], limit=limit, width=network.width)
    for batch in batches(packed, limit):
        held, states, _ = _predict(network, targets, batch)
        wanted = np.zeros(states.shape[:2], dtype=np.bool_)
        for row, target in enumerate(held):
            wanted[row, : len(target.completion)] = target.uncertain
        places = [(held[row], column) for row, column in np.argwhere(wanted).tolist()]
        before = states[torch.from_numpy(wanted).to(network.device)]
        for start in range(0, len(places), _HEAD):
            yield places[start : start + _HEAD], before[start : start + _HEAD]


def distribution(network: Network, states: Tensor, places: Sequence[Place]) -> Tensor:
    """Log-probabilities ``[P, V]`` of what could have been drawn after hidden states ``[P, D]``: tempered, -inf where not admissible."""
    temperature = torch.tensor([target.temperature for target, _ in places], device=network.device)
    return _masked(network.logits(states) / temperature[:, None], places).log_softmax(-1)


def of_drawn(logprobs: Tensor, places: Sequence[Place]) -> Tensor:
    """Log-probabilities ``[P]`` of the drawn tokens among those of the vocabulary, ``[P, V]``."""
    tokens = torch.tensor([int(target.completion[column]) for target, column in places], device=logprobs.device)
    return logprobs.gather(1, tokens[:, None])[:, 0]


def index(places: Sequence[Place], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows and columns of the result, int64 ``[P]`` each."""
    rows, columns = [target.row for target, _ in places], [column for _, column in places]
    return torch.tensor(rows, dtype=torch.int64, device=device), torch.tensor(columns, dtype=torch.int64, device=device)


def read(network: Network, batch: Sequence[Packed], memory: MemoryBatch | None = None, carried: Sequence[Carried] | None = None) -> Tensor:
    """Hidden states ``[S, T, D]`` of some packed sequences, padded on the right."""
    width = max(len(item.ids) for item in batch)
    ids, positions = (np.zeros((len(batch), width), dtype=np.int64) for _ in range(2))
    for row, item in enumerate(batch):
        ids[row, : len(item.ids)], positions[row, : len(item.ids)] = item.ids, item.positions
    seen = np.stack([item.seen(width) for item in batch])[:, None] if batch[0].branched else None
    device = network.device
    visible = None if seen is None else torch.from_numpy(seen).to(device)
    thoughts = Thoughts.of(carried, width, device) if carried is not None else None
    tokens, places = torch.from_numpy(ids).to(device), torch.from_numpy(positions).to(device)
    return network.hidden(tokens, places, visible, memory=memory, thoughts=thoughts)


@torch.no_grad()
def retrieve(network: Network, targets: Sequence[Target], *, limit: int) -> dict[int, list[tuple[int, ...]]]:
    """Per row of the targets that have memory, the memory rows that a retrieving adapter reads for each token of the completion."""
    packed = pack([target.read for target in targets], [target.tag for target in targets], limit=limit, width=network.width)
    found: dict[int, list[tuple[int, ...]]] = {}
    for batch in batches(packed, limit):
        predicted = _predict(network, targets, batch)
        for at, places in predicted.memory.read() if predicted.memory is not None else ():
            target = predicted.targets[at]
            found[target.row] = places[: len(target.completion)]
    return found


class _Predicted(NamedTuple):
    """Completions, and what predicts their tokens."""

    targets: list[Target]
    """The S completions of a batch."""
    states: Tensor
    """Hidden states ``[S, T, D]`` before each token, memory read in; padded on the right."""
    memory: MemoryBatch | None


def _predict(network: Network, targets: Sequence[Target], batch: Sequence[Packed]) -> _Predicted:
    """The states before the tokens of every completion in a batch of packed sequences."""
    device = network.device
    leads = [targets[next(iter(item.places))] for item in batch]
    below = MemoryBatch.of([target.memory for target in leads], device) if network.sites.within else None
    hidden = read(network, batch, below, [target.carried for target in leads])
    members = [(targets[row], at, places) for at, item in enumerate(batch) for row, places in item.places.items()]
    source = np.zeros((len(members), max(len(target.completion) for target, _, _ in members)), dtype=np.int64)
    for row, (target, at, places) in enumerate(members):
        source[row, : len(target.completion)] = at * hidden.shape[1] + places[len(target.prompt) - 1 :]
    states = hidden.flatten(0, 1)[torch.from_numpy(source).to(device)]
    held = [target for target, _, _ in members]
    memory = MemoryBatch.of([target.memory for target in held], device, [target.retrieved for target in held])
    return _Predicted(held, network.sites.at_norm(states, memory), memory)


def _masked(logits: Tensor, places: Sequence[Place]) -> Tensor:
    """Logits ``[P, V]`` without the tokens that were not admissible."""
    if all(target.allowed is None for target, _ in places):
        return logits
    blocked = np.zeros(logits.shape, dtype=np.bool_)
    for row, (target, column) in enumerate(places):
        if target.allowed is not None:
            blocked[row] = True
            blocked[row, target.allowed[column]] = False
    return logits.masked_fill(torch.from_numpy(blocked).to(logits.device), float("-inf"))
