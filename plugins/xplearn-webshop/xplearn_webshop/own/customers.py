"""What customers of the own catalogue ask for: a choice of promises and options that tells the product apart, put into words."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

from xplearn_webshop.own import voices
from xplearn_webshop.own.catalogue import Item, items
from xplearn_webshop.own.draw import few, fraction, number, pick
from xplearn_webshop.own.tables import Claim

_MOST_CLAIMS = 3


def promises(item: Item) -> dict[str, Any]:
    """The entry of ``items_ins_v2.json``: the attributes and, where there are two or more, ``Find me a, b things with c for d``."""
    names = [claim.name for claim in item.claims]
    if len(names) < 2:
        return {"attributes": names}
    before = ", ".join(claim.name for claim in item.claims if claim.joint == "is")
    after = {joint: [claim.name for claim in item.claims if claim.joint == joint] for joint in ("with", "without", "for")}
    tail = "".join(f" {joint} {', '.join(things)}" for joint, things in after.items() if things)
    text = " ".join(f"Find me {before} {item.kind.query}{tail}".split())
    return {"attributes": names, "instruction": text, "instruction_attributes": names}


def wishes(item: Item) -> list[dict[str, Any]]:
    """The entries of ``items_human_ins.json`` for a product: none without promises, one or two, three where there are options to choose."""
    if not item.claims:
        return []
    count = 3 if item.options else 1 + (fraction("customers", item.asin) < 0.25)
    choices = _telling(item)
    made: dict[str, dict[str, Any]] = {}
    for customer in range(count):
        wish = voices.Wish(
            item=item,
            claims=choices[(number("choice", item.asin) + customer) % len(choices)],
            options=_wanted(item, customer),
            key=(item.asin, customer),
        )
        text = voices.words(wish)
        made[text] = _entry(wish, text)
    return list(made.values())


def _entry(wish: voices.Wish, text: str) -> dict[str, Any]:
    return {
        "asin": wish.item.asin,
        "instruction": text,
        "attributes": [claim.name for claim in wish.item.claims],
        "options": [f"{name}: {value}" for name, value in wish.options.items()],
        "instruction_attributes": [claim.name for claim in wish.claims],
        "instruction_options": list(wish.options.values()),
    }


def _telling(item: Item) -> list[tuple[Claim, ...]]:
    """Choices of promises that no other product of the type makes together; all of them, where there is no such choice."""
    others = _promises()[item.kind.query]
    sizes = range(1, min(_MOST_CLAIMS, len(item.claims)) + 1)
    choices = [choice for size in sizes for choice in itertools.combinations(item.claims, size)]
    telling = [choice for choice in choices if sum({claim.name for claim in choice} <= other for other in others) == 1]
    return telling or [item.claims]


@functools.cache
def _promises() -> Mapping[str, list[set[str]]]:
    found: dict[str, list[set[str]]] = {}
    for item in items():
        found.setdefault(item.kind.query, []).append({claim.name for claim in item.claims})
    return found


def _wanted(item: Item, customer: int) -> dict[str, str]:
    """One value of each option that the customer names, in the form of the pages."""
    luck = fraction("named", item.asin, customer)
    count = 0 if luck < 0.05 else 1 if luck < 0.4 else 2
    names = few(list(item.options), count, "names", item.asin, customer)
    values = {name: pick(item.options[name], "value", item.asin, customer, name) for name in names}
    return {name.lower(): value.replace("/", " | ").lower() for name, value in values.items()}
