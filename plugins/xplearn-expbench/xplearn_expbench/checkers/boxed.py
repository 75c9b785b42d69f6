r"""``\boxed{…}`` with balanced braces, in one pass over the text."""

from __future__ import annotations

import re
from typing import NamedTuple

_PIECE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\boxed\s+(?P<bare>[^\s${}\\]+)|\\.|[{}]", re.DOTALL)


class Box(NamedTuple):
    """A box that was closed."""

    start: int
    """Where it begins in the text."""
    content: str
    """What is in it."""


def last(text: str) -> Box | None:
    r"""The box that closes last; None where none does. A box that is cut off is none, and ``\{`` is no brace."""
    found: Box | None = None
    open_braces: list[tuple[int, int] | None] = []
    for piece in _PIECE.finditer(text):
        if piece["bare"]:
            found = Box(piece.start(), piece["bare"].rstrip(".,"))
        elif piece[0].endswith("{") and not piece[0].startswith("\\{"):
            open_braces.append((piece.start(), piece.end()) if len(piece[0]) > 1 else None)
        elif piece[0] == "}" and open_braces and (box := open_braces.pop()):
            found = Box(box[0], text[box[1] : piece.start()].strip())
    return found
