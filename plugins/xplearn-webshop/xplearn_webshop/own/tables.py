"""Reads the tables of the own catalogue: plain text files beside this module, one per category, and one of claims.

A category file is a header line ``brands:`` and blocks, one per type of product::

    ## a | face moisturizer; face cream       determiner | what customers call it, the plainest first
    query: …   path: A › B › C   price: 8 34   tails: neutral endings of a title   (one line each)
    Size: 1 oz; 2 oz                          an option and its values
    - a feature that every product of the type may state
    * Name | claim, claim | Size; Color       a product, what it promises, the options it comes in (or Size=1 oz, 3 oz)
      What its description says first.
"""

from __future__ import annotations

import functools
import importlib.resources
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CATEGORIES = ("beauty", "electronics", "garden", "fashion", "grocery")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something a product may promise: an attribute of the reward."""

    name: str
    link: str
    """``is`` before the noun, else the words that join it: ``for``, ``with``, ``with a``, ``without`` …"""
    wish: str
    """How a customer may ask for it without naming it."""
    features: tuple[str, ...]
    """Sentences that state it."""

    @property
    def joint(self) -> str:
        """``is``, ``for``, ``with`` or ``without``."""
        return self.link.split()[0]

    @property
    def thing(self) -> str:
        """What stands after the joint: ``a metal frame``."""
        return f"{self.link} {self.name}".removeprefix(self.joint).lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """One product as the table has it."""

    name: str
    claims: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    """Fixed values by option name; none fixed: drawn from the type's values."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One type of product."""

    category: str
    brands: tuple[str, ...]
    determiner: str
    nouns: tuple[str, ...]
    query: str
    path: str
    prices: tuple[float, float]
    tails: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    features: tuple[str, ...]
    goods: tuple[Good, ...]


@functools.cache
def claims() -> Mapping[str, Claim]:
    """Every claim by its name."""
    rows = (_split(line, "|") for line in lines("claims"))
    return {name: Claim(name=name, link=link, wish=wish, features=tuple(features)) for name, link, wish, *features in rows}


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """Every type of product, category by category."""
    return tuple(kind for category in CATEGORIES for kind in _category(category))


def _category(name: str) -> Iterator[Kind]:
    header, *rows = lines(name)
    brands = tuple(_split(header.removeprefix("brands:"), ","))
    starts = [number for number, row in enumerate(rows) if row.startswith("## ")]
    for start, end in itertools.pairwise([*starts, len(rows)]):
        yield _kind(name, brands, rows[start:end])


def _kind(category: str, brands: tuple[str, ...], rows: list[str]) -> Kind:
    determiner, nouns = _split(rows[0].removeprefix("## "), "|")
    fields = dict(_split(row, ":") for row in rows[1:] if row[0] not in "-* ")
    low, high = fields["price"].split()
    return Kind(
        category=category,
        brands=brands,
        determiner=determiner,
        nouns=tuple(_split(nouns, ";")),
        query=fields["query"],
        path=fields["path"],
        prices=(float(low), float(high)),
        tails=tuple(_split(fields["tails"], ";")),
        options={key: tuple(_split(values, ";")) for key, values in fields.items() if key[0].isupper()},
        features=tuple(row[2:] for row in rows if row.startswith("- ")),
        goods=tuple(_good(row, text) for row, text in itertools.pairwise(rows) if row.startswith("* ")),
    )


def _good(line: str, text: str) -> Good:
    name, promises, options = _split(line.removeprefix("* "), "|")
    pairs = (option.partition("=") for option in _split(options, ";"))
    return Good(
        name=name,
        claims=tuple(_split(promises, ",")),
        options={key: tuple(_split(values, ",")) for key, _, values in pairs},
        text=text.strip(),
    )


def lines(name: str) -> list[str]:
    """The lines of a table, without empty ones and remarks."""
    text = importlib.resources.files(__package__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def _split(text: str, mark: str) -> list[str]:
    return [part.strip() for part in text.split(mark)] if text.strip() else []
