"""Products whose last digits do not depend on the company: a conversation goes on alike alone, in any batch, read anew or resumed.

A library cuts a sum where it likes, by the shape of the whole product: other kernels for very few rows, other cuts of long sums. In
bfloat16 the last digits are enough to move log-probabilities by 0.2, and every tenth short answer. On a processor, products therefore
keep to shapes in which a row's sums are always cut alike: of at least ``ROWS`` rows, and sums over tokens in parts of ``_PART``.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

ROWS = 4
"""Products of fewer rows go through kernels of their own."""
PLACES = 16
"""Tokens that can be attended to are counted in whole multiples of this, a vector of the processor."""
_PART = 128
"""Tokens whose values are added up at once: few enough to be one sum."""
_BLOCK = 1 << 18
"""Scores that are held at once: as many as stay in a processor's cache."""
_TOKENS = 64
"""Tokens of a row among them."""


def rounded(count: int, multiple: int = PLACES) -> int:
    """The next whole multiple."""
    return -(-count // multiple) * multiple


def padded(states: Tensor) -> Tensor:
    """``[..., N, D]`` with rows of zeros below, where there are fewer than ``ROWS``."""
    missing = ROWS - states.shape[-2]
    return pad(states, (0, 0, 0, missing)) if missing > 0 else states


def attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor, scale: float) -> Tensor:
    """Attention ``[B, H, T, D]`` over shared key-value heads, for inference.

    Args:
        query: ``[B, H, T, D]``.
        key: ``[B, G, T', D]``, ``G`` dividing ``H`` and ``T'`` a multiple of ``PLACES``.
        value: as ``key``.
        bias: ``[B, 1, T, T']`` in the same number format, 0 where a token may look and -inf elsewhere; each may look somewhere.
        scale: factor on the products.
    """
    batch, heads, tokens, _ = query.shape
    wide = min(tokens, _TOKENS)
    step = max(1, _BLOCK // (heads * wide * key.shape[2]))
    if wide == tokens and step >= batch:
        return _attend(query * scale, key, value, bias)
    found = torch.empty_like(query)
    for rows in (slice(row, row + step) for row in range(0, batch, step)):
        for at in (slice(token, token + wide) for token in range(0, tokens, wide)):
            found[rows, :, at] = _attend(query[rows, :, at] * scale, key[rows], value[rows], bias[rows, :, at])
    return found


def _attend(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    batch, heads, tokens, width = query.shape
    groups, length = key.shape[1:3]
    count = heads // groups * tokens
    keys, values = key.flatten(0, 1), value.flatten(0, 1)
    scores = torch.bmm(padded(query.reshape(batch * groups, count, width)), keys.transpose(1, 2))
    scores[:, :count].view(batch, groups, -1, tokens, length).add_(bias[:, :, None])
    weights = scores.softmax(-1, dtype=torch.float32).to(value.dtype)
    found = torch.bmm(weights[..., :_PART], values[:, :_PART])
    for start in range(_PART, length, _PART):
        found.baddbmm_(weights[..., start : start + _PART], values[:, start : start + _PART])
    return found[:, :count].reshape(batch, heads, tokens, width)
