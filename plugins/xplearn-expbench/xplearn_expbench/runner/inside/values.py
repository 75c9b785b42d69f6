"""Values as JSON that crosses between two processes which do not trust each other: built-in types by value, all else by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_SMALL = 2**63
_TYPES: dict[str, type] = {
    kind.__name__: kind for kind in (bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple, type(None))
}


def encode(value: Any, refer: Callable[[Any], int]) -> Any:
    """JSON of a value. Subclasses of built-in types are sent as their base, numpy's numbers as Python's, other objects as ``refer(value)``.

    Raises:
        RecursionError: the value is nested too deeply, or holds itself.
    """
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if -_SMALL < value < _SMALL else {"int": hex(value)}
    if isinstance(value, list):
        return [encode(item, refer) for item in value]
    if isinstance(value, dict):
        return {"dict": [[encode(key, refer), encode(item, refer)] for key, item in value.items()]}
    for kind in (tuple, set, frozenset):
        if isinstance(value, kind):
            return {kind.__name__: [encode(item, refer) for item in value]}
    return _rare(value, refer)


def _rare(value: Any, refer: Callable[[Any], int]) -> Any:
    if isinstance(value, bytes | bytearray):
        return {"bytearray" if isinstance(value, bytearray) else "bytes": value.hex()}
    if isinstance(value, type) and _TYPES.get(value.__name__) is value:
        return {"type": value.__name__}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, range):
        return {"range": [encode(part, refer) for part in (value.start, value.stop, value.step)]}
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return encode(value.item(), refer)
    return {"object": refer(value)}


def decode(data: Any, resolve: Callable[[int], Any]) -> Any:
    """The value of JSON from ``encode``; objects become ``resolve(number)``. What comes out holds exact built-in types only.

    Raises:
        ValueError, TypeError, KeyError, RecursionError: the JSON is not of that form.
    """
    if isinstance(data, list):
        return [decode(item, resolve) for item in data]
    if not isinstance(data, dict):
        return data
    ((kind, content),) = data.items()
    if kind == "object":
        return resolve(int(content))
    return _READERS[kind](content, lambda item: decode(item, resolve))


_Reader = Callable[[Any, Callable[[Any], Any]], Any]

_READERS: dict[str, _Reader] = {
    "int": lambda content, _: int(content, 16),
    "type": lambda content, _: _TYPES[content],
    "tuple": lambda content, item: tuple(map(item, content)),
    "set": lambda content, item: set(map(item, content)),
    "frozenset": lambda content, item: frozenset(map(item, content)),
    "dict": lambda content, item: {item(key): item(value) for key, value in content},
    "bytes": lambda content, _: bytes.fromhex(content),
    "bytearray": lambda content, _: bytearray.fromhex(content),
    "complex": lambda content, _: complex(*content),
    "range": lambda content, item: range(*map(item, content)),
}
