"""The products of the own catalogue: what the tables say, dressed with a brand, a title, features, options and a price."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xplearn_webshop.own import titles
from xplearn_webshop.own.draw import few, fraction, number, pick
from xplearn_webshop.own.tables import Claim, Good, Kind, claims, kinds

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CENTS = (0.99, 0.95, 0.49, 0.89, 0.0)
_MOST_VALUES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One product, finished."""

    asin: str
    kind: Kind
    good: Good
    brand: str
    title: str
    options: Mapping[str, tuple[str, ...]]
    claims: tuple[Claim, ...]


@functools.cache
def items() -> tuple[Item, ...]:
    """Every product of the catalogue, in a fixed mixed order."""
    made = [_item(kind, good, place) for kind in kinds() for place, good in enumerate(kind.goods)]
    return tuple(sorted(made, key=lambda item: number("order", item.asin)))


def record(item: Item) -> dict[str, Any]:
    """The product in the schema of ``items_shuffle.json``."""
    description, features = _texts(item)
    return {
        "name": item.title,
        "full_description": description,
        "small_description": " ".join(features) if fraction("plain", item.asin) < 0.02 else features,
        "pricing": _pricing(item),
        "images": [""],
        "product_category": item.kind.path,
        "average_rating": "",
        "customization_options": _customization(item.options),
        "asin": item.asin,
        "category": item.kind.category,
        "query": item.kind.query,
        "page": 1 + number("page", item.asin) % 400,
    }


def _item(kind: Kind, good: Good, place: int) -> Item:
    brand = kind.brands[(number("brand", kind.query) + place) % len(kind.brands)]
    promised = tuple(claims()[name] for name in good.claims)
    return Item(
        asin=_asin(kind, good),
        kind=kind,
        good=good,
        brand=brand,
        title=titles.title(f"{brand} {good.name}", promised, kind.tails),
        options=_options(kind, good),
        claims=promised,
    )


def _asin(kind: Kind, good: Good) -> str:
    rest = number("asin", kind.query, good.name)
    letters = []
    for _ in range(8):
        rest, digit = divmod(rest, len(_DIGITS))
        letters.append(_DIGITS[digit])
    return "XP" + "".join(letters)


def _options(kind: Kind, good: Good) -> dict[str, tuple[str, ...]]:
    """The values of each option: those the table fixes, else two to four of the type's, three where there are two options."""
    most = _MOST_VALUES if len(good.options) == 1 else _MOST_VALUES - 1
    counts = {name: 2 + number("count", good.name, name) % (most - 1) for name in good.options}
    return {name: fixed or few(kind.options[name], counts[name], "option", good.name, name) for name, fixed in good.options.items()}


def _texts(item: Item) -> tuple[str, list[str]]:
    """The description, and the features: what the title leaves out, and what any product of the type may say.

    The search reads title, description and first feature: one promise at least is among them.
    """
    title = item.title.lower()
    hidden = [claim for claim in item.claims if claim.name not in title]
    stated = hidden + [claim for claim in item.claims if claim.name in title and len(hidden) < 2]
    own = [pick(claim.features, "feature", item.asin, claim.name) for claim in stated]
    filler = sorted(item.kind.features, key=lambda text: number("filler", item.asin, text))
    needed = max(1, 3 - len(own))
    told = own + filler[:needed] if len(hidden) == len(item.claims) or fraction("turn", item.asin) < 0.25 else filler[:needed] + own
    features, rest = [f"{text}." for text in told], filler[needed:]
    description = item.good.text + (f" {rest[0]}." if rest and fraction("longer", item.asin) < 0.6 else "")
    return description, features


def _pricing(item: Item) -> str:
    """``$a``, ``$a$b`` for a range (now and then the wrong way round), or nothing."""
    low, high = item.kind.prices
    price = int(low * (high / low) ** fraction("price", item.asin)) + pick(_CENTS, "cents", item.asin)
    other = price * (1.15 + fraction("range", item.asin) / 2)
    luck = fraction("pricing", item.asin)
    if luck < 0.09:
        return ""
    if luck < 0.18:
        ends = (other, price) if luck < 0.095 else (price, other)
        return "".join(f"${end:.2f}" for end in ends)
    return f"${price:.2f}"


def _customization(options: Mapping[str, tuple[str, ...]]) -> dict[str, list[dict[str, Any]]] | str:
    return {name: [{"value": value, "image": None, "is_available": True} for value in values] for name, values in options.items()} or ""
