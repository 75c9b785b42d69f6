"""Records from JSON, checked against their annotations: a file that was edited or torn is found where it is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def checked(cls: type[T], raw: object) -> T:
    """A flat dataclass from the JSON values of its fields.

    Raises:
        ValueError: the value is no object, a field is missing or unknown, or one has a wrong type; numbers must be finite.
    """
    hints = _hints(cls)
    if not isinstance(raw, dict):
        raise ValueError(f"want the fields of {cls.__name__}, got {_shown(raw)}")
    for what, names in (("lacks", hints.keys() - raw.keys()), ("has unknown", raw.keys() - hints.keys())):
        if names:
            raise ValueError(f"{what} {', '.join(sorted(names))}")
    for name, hint in hints.items():
        if not conforms(raw[name], hint):
            raise ValueError(f"{name} is {_shown(raw[name])}")
    return cls(**raw)


def conforms(value: object, hint: Any) -> bool:
    """Whether a JSON value has the annotated type; a list stands for any sequence, and numbers are finite."""
    kind, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if kind in (Union, UnionType):
        return any(conforms(value, option) for option in inner)
    if kind is Literal:
        return value in inner
    if kind in (dict, Mapping):
        return isinstance(value, dict) and all(conforms(item, inner[1]) for item in value.values())
    if kind is tuple and inner[-1] is not Ellipsis:
        return isinstance(value, list) and len(value) == len(inner) and all(map(conforms, value, inner))
    if kind is not None:
        return isinstance(value, list) and all(conforms(item, inner[0]) for item in value)
    return _plain(value, hint)


def _plain(value: object, hint: type) -> bool:
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
