"""How alike two texts are, in whole percent, as the reward measures it."""

from __future__ import annotations

import functools
import re

from rapidfuzz.fuzz import token_set_ratio

ALIKE = 85
"""Above this two texts count as the same."""

_OTHER = re.compile(r"[^a-zA-Z0-9]")


def alike(one: str, other: str) -> bool:
    """Whether the sets of words of two texts are nearly the same, or one holds the other.

    Characters other than ASCII are dropped, punctuation parts words, case does not count; an empty text is like nothing.
    """
    first, second = _cleaned(one), _cleaned(other)
    return bool(first and second) and round(token_set_ratio(first, second)) > ALIKE


@functools.lru_cache(maxsize=16_384)
def _cleaned(text: str) -> str:
    return _OTHER.sub(" ", text.encode("ascii", "ignore").decode()).lower().strip()
