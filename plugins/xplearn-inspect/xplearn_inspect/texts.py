"""Text that a JSON file can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

LONGEST_NAME = 200
"""Characters of a sample's id, which names a file within the log."""


def sound(value: Any) -> Any:
    """The same JSON value; half of a surrogate pair, which no file in UTF-8 can hold, is replaced by ``�``."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {sound(name): sound(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sound(item) for item in value]
    return value


def name(text: str) -> str:
    """``text`` where a file in a zip can be called so: on one line, not endless; else its beginning and a hash of all."""
    said = str(sound(text))
    if len(said) <= LONGEST_NAME and said.isprintable():
        return said
    begins = "".join(letter if letter.isprintable() else "�" for letter in said[:100])
    return f"{begins}-{hashlib.sha256(said.encode()).hexdigest()[:12]}"
