"""Drawing tokens: keyed Gumbel noise, so that a draw depends on its row's key and its place alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from xplearn.seeding import derive

Floats = NDArray[np.float64]

_NEAR = 8.0
"""Tokens this close to the likeliest (nats) get their noise at once; of the others only those whose noise can still win."""


def uniforms(key: int, index: int, count: int) -> Floats:
    """``count`` numbers in (0, 1): a pure function of the row's key and the index of the token within its completion.

    The raw Philox stream is part of the recorded format; numpy guarantees it across versions.
    """
    halves = np.random.Philox(key=derive(key, "token", index)).random_raw((count + 1) // 2).view(np.uint32)[:count]
    return (halves.astype(np.float64) + 0.5) * 2.0**-32


def gumbel(uniform: Floats) -> Floats:
    """Standard Gumbel noise from uniform numbers."""
    noise: Floats = -np.log(-np.log(uniform))
    return noise


def draw(
    logprobs: NDArray[np.floating], *, greedy: bool, top_p: float, key: int, index: int, tokens: NDArray[np.int64] | None = None
) -> tuple[int, float]:
    """Draw one token.

    Args:
        logprobs: normalised log-probabilities ``[V]``, nats, temperature applied.
        greedy: take the likeliest instead, the smaller id at a tie.
        top_p: draw from the smallest set of likeliest tokens that holds this probability.
        key: the row's seed.
        index: place of the token within its completion.
        tokens: id of each entry, ascending, where ``logprobs`` covers a part of the vocabulary.

    Returns:
        The token id and its log-probability under the distribution it was drawn from (for a greedy one, under ``logprobs``).
    """
    if greedy:
        place, shift = int(np.argmax(logprobs)), 0.0
    else:
        place, shift = _sample(logprobs, top_p, key, index, tokens)
    return int(place if tokens is None else tokens[place]), float(logprobs[place]) - shift


def _sample(logprobs: NDArray[np.floating], top_p: float, key: int, index: int, tokens: NDArray[np.int64] | None) -> tuple[int, float]:
    """Place of the drawn entry, and the log of the probability that top-p kept."""
    places = np.arange(len(logprobs)) if top_p >= 1.0 else nucleus(logprobs, top_p)
    kept = np.asarray(logprobs[places], dtype=np.float64)
    ids = places if tokens is None else tokens[places]
    uniform = uniforms(key, index, int(ids[-1]) + 1)[ids]
    place = int(places[_perturbed_argmax(kept, uniform)])
    return place, 0.0 if top_p >= 1.0 else math.log(np.exp(kept).sum())


def nucleus(logprobs: NDArray[np.floating], top_p: float) -> NDArray[np.int64]:
    """Places of the smallest set of likeliest entries with probability ``top_p`` or more, ascending; ties go to the smaller place."""
    # entries below (1 - p) / V hold less than 1 - p together, so the set never needs them
    floor = math.log((1.0 - top_p) / len(logprobs)) if top_p < 1.0 else -math.inf
    likely = np.flatnonzero(logprobs >= floor)
    order = likely[np.argsort(-logprobs[likely], kind="stable")]
    mass = np.cumsum(np.exp(logprobs[order], dtype=np.float64))
    return np.sort(order[: int(np.searchsorted(mass, top_p - 1e-12)) + 1])


def _perturbed_argmax(logprobs: Floats, uniform: Floats) -> int:
    """Place of the largest ``logprobs + gumbel(uniform)``, without the logarithms of entries that cannot win."""
    peak = float(logprobs.max())
    near = np.flatnonzero(logprobs >= peak - _NEAR)
    best = float((logprobs[near] + gumbel(uniform[near])).max())
    needed = math.exp(-math.exp(-(best - peak + _NEAR)))  # below it, even the likeliest of the others loses
    rivals = np.flatnonzero((logprobs >= peak - _NEAR) | (uniform >= needed))
    return int(rivals[np.argmax(logprobs[rivals] + gumbel(uniform[rivals]))])
