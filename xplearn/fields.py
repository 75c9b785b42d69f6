"""From a mapping to a checked dataclass: a wrong key, type or range is one line with its path and the nearest valid name."""

from __future__ import annotations

import copy
import dataclasses
import functools
import os
from collections.abc import Hashable, Mapping
from dataclasses import MISSING
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from omegaconf import OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from xplearn.component import Component
from xplearn.errors import ConfigError, nearest

T = TypeVar("T")


def build(cls: type[Component], fields: Mapping[str, Any], *, path: str) -> Component:
    """One component from its fields.

    Raises:
        ConfigError: a field is unknown, missing, or has a wrong type or value; the path starts with ``path``.
    """
    return instantiate(cls, fields, path)


def instantiate(cls: type[T], fields: Mapping[str, Any], path: str) -> T:
    """A dataclass (nested ones too) from a mapping, checked against its annotations by OmegaConf."""
    if not dataclasses.is_dataclass(cls):
        return cls(**fields)
    hints = _hints(cast("Hashable", cls))
    declared = {field.name: field for field in dataclasses.fields(cls) if field.init}
    nested = {key: value for key, value in fields.items() if key in declared and _dataclass_in(hints[key]) and value is not None}
    leaves = {key: _plain(value) for key, value in fields.items() if key not in nested}
    values = _checked(cls, leaves, path)
    for key, value in nested.items():
        values[key] = _nested(hints[key], _default(declared[key]), value, _join(path, key))
    for key, field in declared.items():
        if key not in values and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(_join(path, key), f"is required ({field.type})")
    try:
        return cls(**values)
    except ConfigError as error:
        reason = str(error).removeprefix(f"{error.path}: ")
        raise ConfigError(_join(path, error.path), reason) from None


@functools.cache
def _hints(cls: Hashable) -> dict[str, Any]:
    return get_type_hints(cls)


def _checked(cls: type[Any], leaves: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The given leaf fields, converted and checked by OmegaConf; fields that were not given are left to their defaults."""
    try:
        container = _converted(cast("Hashable", cls), _Leaves(_key(leaves), leaves))
    except (ConfigKeyError, ConfigAttributeError) as error:
        raise ConfigError(_join(path, error.full_key or ""), _unknown_key(cls, error)) from None
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(_join(path, error.full_key or ""), "want a list" if "is not a ListConfig" in reason else reason) from None
    except TypeError:  # what OmegaConf raises for a mapping in a list's place
        wrong = next((key for key, value in leaves.items() if isinstance(value, Mapping)), "")
        raise ConfigError(_join(path, wrong), "want a list, not a mapping") from None
    return {key: copy.deepcopy(container[key]) for key in leaves}


@dataclasses.dataclass(frozen=True)
class _Leaves:
    """Fields to be checked, equal to others of an equal key."""

    key: Hashable
    values: Mapping[str, Any] = dataclasses.field(compare=False)


def _key(value: Any) -> Hashable:
    """Equal for values that are checked alike; a key of its own where that cannot be told."""
    if isinstance(value, dict):
        return "map", *((_key(name), _key(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return "list", *map(_key, value)
    known = isinstance(value, str | int | float | None) and not (isinstance(value, str) and "${" in value)
    return (type(value), repr(value)) if known else object()


@functools.lru_cache(maxsize=4096)
def _converted(cls: Hashable, leaves: _Leaves) -> dict[str, Any]:
    """The fields as OmegaConf converts them, defaults filled in: the grid of a cross asks for the same thousands of times."""
    merged = OmegaConf.merge(_structured(cls), leaves.values)
    return cast("dict[str, Any]", OmegaConf.to_container(merged, resolve=True))


@functools.cache
def _structured(cls: Hashable) -> Any:
    """A class as OmegaConf sees it, to be merged into copies."""
    return OmegaConf.structured(cls)


def _nested(hint: Any, default: Any, value: Any, path: str) -> Any:
    """A nested dataclass, or a list of them, laid on its default."""
    inner = cast("type[Any]", _dataclass_in(hint))
    if get_origin(hint) is list:
        if not isinstance(value, list):
            raise ConfigError(path, "want a list")
        return [_nested(inner, None, item, f"{path}.{index}") for index, item in enumerate(value)]
    if isinstance(value, inner):
        return value
    if not isinstance(value, Mapping):
        raise ConfigError(path, f"want a mapping, not {value!r}")
    base = {field.name: getattr(default, field.name) for field in dataclasses.fields(default)} if default is not None else {}
    return instantiate(inner, {**base, **value}, path)


def _dataclass_in(hint: Any) -> type[Any] | None:
    """The dataclass in ``X``, ``X | None`` or ``list[X]``."""
    for candidate in (hint, *get_args(hint)):
        if isinstance(candidate, type) and dataclasses.is_dataclass(candidate):
            return candidate
    return None


def _default(field: dataclasses.Field[Any]) -> Any:
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    return value if dataclasses.is_dataclass(value) else None


def _plain(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _unknown_key(cls: type[Any], error: OmegaConfBaseException) -> str:
    known = [field.name for field in dataclasses.fields(cls) if field.init]
    wrong = str(error.key)
    hint = nearest(wrong, known)
    return "unknown key" + (f"; did you mean '{hint}'?" if hint else "") + f" (known: {', '.join(known)})"


def _join(path: str, key: str) -> str:
    key = key.replace("[", ".").replace("]", "").lstrip(".")
    return f"{path}.{key}" if path and key else path or key
