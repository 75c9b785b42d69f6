"""Input that is meant well: near misses of a command are understood."""

from __future__ import annotations

LONGEST = 200
"""Characters beyond which nothing is taken for a command; the longest command has about 50."""

_ARTICLES = frozenset({"the", "a", "an"})
_INTO = frozenset({"to", "in", "on", "in/on", "into", "onto"})


def understood(text: str) -> str:
    """The command that a text stands for, spelt as the engine spells commands; empty where a text is far too long for one.

    Case, blanks, a leading ``>``, articles, and full stops or exclamation marks at the end do not matter, and ``put X in/on Y`` of older
    versions is ``move X to Y``.
    """
    if len(text) > LONGEST:
        return ""
    words = [word for word in text.strip().lstrip(">").rstrip(" .!").lower().split() if word not in _ARTICLES]
    if words[:1] == ["put"] or words[:1] == ["move"]:
        place = next((number for number, word in enumerate(words) if word in _INTO), len(words))
        words = ["move", *words[1:place], "to", *words[place + 1 :]]
    return " ".join(words)
