"""A configuration as names and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(value: Any, path: str = "") -> dict[str, bool | int | float | str]:
    """Every value under its dotted path, as overrides name it; what is empty is ``none``."""
    if isinstance(value, Mapping | list | tuple) and value:
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        return {name: item for key, inner in pairs for name, item in flat(inner, f"{path}.{key}" if path else str(key)).items()}
    return {path: value if isinstance(value, bool | int | float | str) else "none"}
