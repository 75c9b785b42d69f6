"""What the values of an axis are called, and what the cells made of them are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xplearn.errors import ConfigError

MOST = 60
"""Longest label, in characters."""

BETWEEN = "·"
"""Stands between the labels of a cell, so in none of them."""

_SLUG_MOST = 80
_NUMBER = re.compile(r"-?[0-9.]+(e-?[0-9]+)?")
_UNSAFE = re.compile(r"[^A-Za-z0-9.]+")


def labelled(values: Any, path: str) -> dict[str, Any]:
    """The values of an axis by label: a mapping brings its own, a list's are made from its values.

    Raises:
        ConfigError: there is no value, or a label that is empty, long, unprintable or there twice.
    """
    if not isinstance(values, list | Mapping) or not values:
        raise ConfigError(path, "want at least one value, as a list or as a mapping from label to value")
    if isinstance(values, Mapping):
        return {sound(str(label), path): value for label, value in values.items()}
    names = _made(values)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(path, f"two values are called '{twice}'; give them labels, as a mapping from label to value")
    return dict(zip(names, values, strict=True))


def label(value: Any) -> str:
    """The short name of a value: that of a part or environment, a number, the names in a list joined, ``none`` for an empty one."""
    return _clean(_short(value))


def joined(labels: Mapping[str, str]) -> str:
    """The id of the cell with these labels by axis."""
    return f" {BETWEEN} ".join(_spoken(labels))


def slug(labels: Mapping[str, str]) -> str:
    """What the run of a cell may be called: part of a folder's name, from labels by axis that may hold anything."""
    parts = [_UNSAFE.sub("-", name).strip("-.") for name in _spoken(labels)]
    return "_".join(part for part in parts if part)[:_SLUG_MOST] or "cell"


def sound(name: str, path: str) -> str:
    """The label, or name of an axis, that somebody gave; ``ConfigError`` unless it can be shown."""
    if not name.strip() or name != name.strip() or not name.isprintable() or BETWEEN in name or len(name) > MOST:
        raise ConfigError(path, f"{name[:MOST]!r} is no name; want at most {MOST} printable characters, '{BETWEEN}' not among them")
    return name


def _spoken(labels: Mapping[str, str]) -> Iterator[str]:
    """The labels, a bare number with what it is the number of: ``seed 0``."""
    for axis, name in labels.items():
        yield f"{axis.rpartition('.')[2]} {name}" if _NUMBER.fullmatch(name) else name


def _made(values: Sequence[Any]) -> list[str]:
    short = [label(value) for value in values]
    return [name if short.count(name) == 1 else _clean(_full(value)) for name, value in zip(short, values, strict=True)]


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        named = value.get("name", value.get("env"))
        return _full(value) if named is None else _short(named)
    if isinstance(value, list):
        return "+".join(map(_short, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value)


def _full(value: Any) -> str:
    """The short name with whatever else the value says."""
    if isinstance(value, list):
        return "+".join(map(_full, value)) or "none"
    if not isinstance(value, Mapping):
        return _short(value)
    named = [_full(value[key]) for key in ("name", "env") if key in value]
    rest = [f"{key}={_full(item)}" for key, item in value.items() if key not in ("name", "env")]
    return " ".join([*named, *rest]) or "none"


def _clean(text: str) -> str:
    shown = " ".join("".join(letter if letter.isprintable() and letter != BETWEEN else " " for letter in text).split()) or "empty"
    return shown if len(shown) <= MOST else f"{shown[: MOST - 1]}…"
