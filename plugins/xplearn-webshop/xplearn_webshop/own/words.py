"""The nouns of a title, as a tagger would find them: all words but those of ``words.txt``."""

from __future__ import annotations

import functools
import re

from xplearn_webshop.own.tables import lines


@functools.cache
def _others() -> frozenset[str]:
    return frozenset(" ".join(lines("words")).split())


def nouns(title: str) -> list[str]:
    """The nouns in their order, lower case, without a possessive's ``'s``."""
    words = re.findall(r"[a-z]+", title.lower().replace("'s", ""))
    return [word for word in words if word not in _others()]
