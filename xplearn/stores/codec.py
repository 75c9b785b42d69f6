"""The one form in which every store keeps an experience: a line of canonical JSON, in ASCII.

Equal experiences give equal lines, so hashing lines hashes content. Escaping everything beyond ASCII keeps text that no encoding
would accept, such as a lone surrogate from a broken subprocess, without loss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from xplearn.errors import ContractError, nearest
from xplearn.types import Experience

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELDS = tuple(field.name for field in fields(Experience))
_TEXTS = ("id", "kind", "key", "content", "source", "task", "task_kind")
_LARGEST = 1e15
_REAL = "biuf"
"""Kinds of NumPy types that hold real numbers."""
_encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":"))


def encode(experience: Experience, component: str) -> str:
    """The line of one experience.

    Raises:
        ContractError: a text field is no text, a number is not finite, or ``meta`` is not JSON.
    """
    values = {name: getattr(experience, name) for name in FIELDS}
    try:
        for name in _TEXTS:
            if not isinstance(values[name], str):
                raise TypeError(f"{name} must be text, got {values[name]!r}")
        values["outcome"] = float(values["outcome"])
        values["utility"] = float(values["utility"])
        values["uses"] = int(values["uses"])
        values["created"] = [int(part) for part in values["created"]]
        values["meta"] = dict(values["meta"])
        return _encoder.encode(values)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ContractError(component, f"experience {values['id']!r} cannot be stored: {error}") from error


def decode(line: str) -> Experience:
    """The experience of a line. A line of another making raises ``ValueError``, ``KeyError``, ``TypeError`` or ``RecursionError``."""
    values = json.loads(line)
    values["created"] = tuple(values["created"])
    for name in _TEXTS:
        if not isinstance(values[name], str):
            raise TypeError(f"{name} is no text")
    return Experience(**values)


def check_changes(changes: Mapping[str, Any], component: str) -> None:
    """Raise ``ContractError`` unless every name is a field of an experience that may change."""
    if "id" in changes:
        raise ContractError(component, "an experience keeps its id; remove it, then add the other")
    for name in changes:
        if name not in FIELDS:
            hint = nearest(name, FIELDS)
            raise ContractError(component, f"an experience has no field '{name}'" + (f"; did you mean '{hint}'?" if hint else ""))


def plain(text: str) -> str:
    """``text`` in printable ASCII, reversibly: how ids and names stand in a column or a hash."""
    return json.dumps(text)[1:-1]


def original(text: str) -> str:
    """What ``plain`` was given."""
    return text if "\\" not in text else str(json.loads(f'"{text}"'))


def matrix(vectors: Any, *, rows: int | None, dim: int, what: str, component: str) -> NDArray[np.float32]:
    """Vectors as contiguous float32 ``[rows, dim]``.

    Raises:
        ContractError: another shape, not real numbers, not finite, or so large that single precision could not multiply them.
    """
    try:
        if np.asarray(vectors).dtype.kind not in _REAL:
            raise TypeError(f"of type {np.asarray(vectors).dtype}")
        found = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ContractError(component, f"{what} are not an array of real numbers: {error}") from error
    wanted = f"[{'any' if rows is None else rows}, {dim}]"
    if np.ndim(vectors) != 2 or found.shape[1] != dim or rows not in (None, found.shape[0]):
        raise ContractError(component, f"{what} must have the shape {wanted}, got {list(np.shape(vectors))}")
    if not np.abs(found).max(initial=0.0) <= _LARGEST:  # not-a-number compares false
        raise ContractError(component, f"{what} hold values that are not finite (or beyond {_LARGEST:g})")
    return found
