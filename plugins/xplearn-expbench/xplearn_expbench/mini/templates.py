"""Coding problems as templates: a sentence, a solution and a plausible mistake, each with places for constants."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template as Places
from typing import Any

from xplearn_expbench.mini.draw import few, number, pick

Key = str | int
Values = Mapping[str, object]

_LETTERS = "abcdeilnorst"
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_MARKS = (",", ".", "!", "7", "42", "0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A family of problems."""

    name: str
    """Of the function."""
    level: int
    """1: one expression. 2: a loop or a condition. 3: several steps."""
    takes: str
    """Arguments with their kind, e.g. ``numbers: ints, limit: int``; kinds are those of ``KINDS``."""
    gives: str
    """Annotation of the result."""
    text: str
    """What to do, as it follows "Write a function to": with ``$places`` (see ``filled``)."""
    body: str
    """Solution, not indented."""
    wrong: str
    """A mistake that somebody might make, in the same form."""
    values: Sequence[Values]
    """What the places hold, one mapping a problem."""


def each(**options: Sequence[object]) -> list[Values]:
    """Every combination of the options."""
    return [dict(zip(options, chosen, strict=True)) for chosen in itertools.product(*options.values())]


def table(names: str, *rows: Sequence[object]) -> list[Values]:
    """One mapping a row."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


def filled(text: str, values: Values) -> str:
    """The text with its places filled; for a number ``k`` also ``$k_th``, such as 2nd, and ``$k_s``, which is no ``s`` for 1."""
    numbers = {name: value for name, value in values.items() if type(value) is int}
    ordinals = {f"{name}_th": f"{value}{_ENDINGS.get(value, 'th')}" for name, value in numbers.items()}
    plurals = {f"{name}_s": "" if value == 1 else "s" for name, value in numbers.items()}
    return Places(text).substitute(values, **ordinals, **plurals)


def _size(most: int, *key: Key) -> range:
    return range(number(0, most, *key, "size"))


def _word(*key: Key) -> str:
    return "".join(pick(_LETTERS, *key, place) for place in range(number(1, 8, *key, "length")))


def _text(*key: Key) -> str:
    parts = [
        pick([_word(*key, place), _word(*key, place).title(), pick(_MARKS, *key, place)], *key, "kind", place) for place in _size(5, *key)
    ]
    return " ".join(parts)


def _ints(*key: Key) -> list[int]:
    return [number(-9, 20, *key, place) for place in _size(8, *key)]


def _grid(*key: Key) -> list[list[int]]:
    rows, columns = number(1, 4, *key, "rows"), number(1, 4, *key, "columns")
    return [[number(-5, 12, *key, row, column) for column in range(columns)] for row in range(rows)]


def _names(*key: Key) -> list[str]:
    return few(("ada", "ben", "cleo", "dan", "eve", "finn", "gus", "hana", "ivo"), number(0, 6, *key, "size"), *key)


KINDS: dict[str, tuple[str, Callable[..., Any]]] = {
    "int": ("int", lambda *key: number(-20, 40, *key)),
    "count": ("int", lambda *key: number(0, 15, *key)),
    "size": ("int", lambda *key: number(1, 60, *key)),
    "big": ("int", lambda *key: number(0, 9, *key) if number(0, 3, *key, "small") == 0 else number(0, 99_999, *key)),
    "ints": ("list[int]", _ints),
    "few": ("list[int]", lambda *key: [number(0, 6, *key, place) for place in _size(9, *key)]),
    "word": ("str", lambda *key: "" if number(0, 9, *key, "empty") == 0 else _word(*key)),
    "text": ("str", _text),
    "words": ("list[str]", lambda *key: [_word(*key, place) for place in _size(6, *key)]),
    "grid": ("list[list[int]]", _grid),
    "scores": ("dict[str, int]", lambda *key: {name: number(0, 20, *key, name) for name in _names(*key)}),
    "pairs": ("list[tuple[str, int]]", lambda *key: [(pick("pqrst", *key, place), number(-3, 9, *key, place)) for place in _size(7, *key)]),
}
"""Kinds of arguments: their annotation, and how one is drawn for a key."""


def arguments(takes: str) -> Iterator[tuple[str, str]]:
    """Names and kinds."""
    for part in takes.split(", "):
        name, _, kind = part.partition(": ")
        yield name, kind
