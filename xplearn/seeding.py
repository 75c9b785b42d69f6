"""Keyed randomness: every random draw is a pure function of the run's seed and a key.

Nothing in xplearn owns a stateful generator, so batch width, worker count, order of completion and resuming
cannot change a result, and checkpoints need no generator state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

Key = str | int
T = TypeVar("T")

_BITS = 63


def derive(seed: int, *key: Key) -> int:
    """A seed in [0, 2**63) for this key.

    Args:
        seed: the run's seed.
        key: what the draw is for, e.g. ``("env", round, task.id, replica)``. Strings and integers only; ``1`` and
            ``"1"`` are different keys.

    The mapping is part of the recorded format: it never changes within a major version.
    """
    digest = hashlib.blake2b(digest_size=8, person=b"xplearn")
    for part in (seed, *key):
        text = f"{'i' if isinstance(part, int) else 's'}{part}"
        raw = text.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(4, "little") + raw)
    return int.from_bytes(digest.digest(), "little") >> (64 - _BITS)


def shuffled(items: Sequence[T], seed: int, *key: Key) -> list[T]:
    """A new list in an order fixed by the key alone."""
    return [items[i] for _, i in sorted((derive(seed, *key, i), i) for i in range(len(items)))]
