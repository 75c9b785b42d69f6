"""A principle: what to do under which condition."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Pool = Literal["task", "step"]
"""Found by the task as it begins, or by a moment within it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principle:
    """One line each, without control characters: fit to be shown."""

    title: str
    when: str
    """The condition, as it would follow "When"."""
    do: str
    """What helps, as an instruction."""
    avoid: str
    """What harms; may be empty."""
    scope: Pool

    @property
    def content(self) -> str:
        """The text it is shown as."""
        avoid = f" Avoid: {_ended(self.avoid)}" if self.avoid else ""
        return f"When {self.when.rstrip('.,;: ')}: {_ended(self.do)}{avoid}"


def fingerprint(content: str, pool: Pool) -> str:
    """Names what is said, whatever its case, spacing and punctuation: two entries of a pool with one fingerprint are duplicates."""
    words = " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", content).casefold()))
    return hashlib.blake2b(f"{pool}\n{words}".encode("utf-8", "replace"), digest_size=12, person=b"edge-principle").hexdigest()


def one_line(text: str, limit: int) -> str:
    """Text on one line of at most ``limit`` characters, without control characters, lone surrogates and the like."""
    words = ("".join(filter(str.isprintable, word)) for word in text.split())
    line = " ".join(filter(None, words))
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…" if limit else ""


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."
