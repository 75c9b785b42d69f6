"""What figures are made of: numbers, and some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from xplearn.errors import ConfigError

Array = np.ndarray[Any, np.dtype[np.float64]]


def numbers(values: Any, name: str, *, axes: int = 1) -> Array:
    """Finite numbers as an array.

    Args:
        values: a sequence, or an array.
        name: what they are called in the message.
        axes: how many the array is to have.

    Raises:
        ConfigError: there is none, they are of another shape, or one is no finite number.
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(name, f"want numbers in {axes} {_axes(axes)}, all rows of one length") from None
    if found.ndim != axes or not found.size:
        raise ConfigError(name, f"have shape {found.shape}; want at least one number in {axes} {_axes(axes)}")
    wrong = np.argwhere(~np.isfinite(found))
    if len(wrong):
        at = tuple(map(int, wrong[0]))
        raise ConfigError(name, f"hold {found[at]} at {', '.join(map(str, at))}; want finite numbers: leave out what was not evaluated")
    return found


def _axes(count: int) -> str:
    return "axis" if count == 1 else "axes"
