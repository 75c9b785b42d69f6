"""Text that a JSON file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sound(value: Any) -> Any:
    """The same JSON value; half of a surrogate pair, which no file in UTF-8 can hold, is replaced by ``�``."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {sound(name): sound(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sound(item) for item in value]
    return value
