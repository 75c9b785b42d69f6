"""How alike two texts are, in whole percent, as the reward measures it."""

from __future__ import annotations

import functools

from rapidfuzz.fuzz import token_set_ratio
from rapidfuzz.utils import default_process

ALIKE = 85
"""Above this two texts count as the same."""

_DROPPED = dict.fromkeys(range(0x80, 0x100))


def alike(one: str, other: str) -> bool:
    """Whether the sets of words of two texts are nearly the same, or one holds the other.

    Only letters and digits of any script count, and case does not; anything else parts words, but for the characters of Latin-1 beyond
    ASCII, which are dropped: "café" is "caf" and "men’s" is "men s". An empty text is like nothing.
    """
    first, second = _cleaned(one), _cleaned(other)
    return bool(first and second) and round(token_set_ratio(first, second)) > ALIKE


@functools.lru_cache(maxsize=16_384)
def _cleaned(text: str) -> str:
    return default_process(text.translate(_DROPPED))
