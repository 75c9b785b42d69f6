"""What somebody who knows the goal does: search, find the product, choose its options, buy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xplearn_webshop.actions import Request, written
from xplearn_webshop.reward import wanted_options
from xplearn_webshop.session import HITS, HITS_A_PAGE

if TYPE_CHECKING:
    from xplearn_webshop.catalogue import Catalogue
    from xplearn_webshop.records import Goal

EARLY = 2 * HITS_A_PAGE
"""The first query is good enough when the product is among so many first hits."""

_PRICE = re.compile(r", and price lower than [\d.]+ dollars$")
_OPTIONS = re.compile(r" with (?:(?! with )[^:,])+: .*$")


def queries(instruction: str) -> tuple[str, ...]:
    """Words to search for, from the instruction alone: without its price clause, then without its options as well."""
    said = _PRICE.sub("", instruction.strip())
    return tuple(dict.fromkeys(map(_sayable, (said, _OPTIONS.sub("", said)))))


def words(catalogue: Catalogue, goal: Goal) -> tuple[str, int]:
    """What to search for to find the goal's product, and its place among the hits, from 0.

    The instruction's first query where that finds it early, else the query that finds it earliest; the product's title where none
    finds it at all.
    """
    asked = queries(goal.instruction)
    places = [_place(catalogue, said, goal.asin) for said in asked]
    best = 0 if places[0] < EARLY else places.index(min(places))
    if places[best] < HITS:
        return asked[best], places[best]
    title = _sayable(catalogue.product(goal.asin).name)
    return title, _place(catalogue, title, goal.asin)


def searches(catalogue: Catalogue, goal: Goal) -> tuple[str, ...]:
    """The queries, and the title where none of them finds the product: without it these goals could not be reached by choosing."""
    return tuple(dict.fromkeys((*queries(goal.instruction), words(catalogue, goal)[0])))


def actions(catalogue: Catalogue, goal: Goal) -> tuple[str, ...]:
    """From the first page to the purchase of the goal's product with its options."""
    product = catalogue.product(goal.asin)
    chosen = wanted_options(product, goal)
    said, place = words(catalogue, goal)
    return (
        f"search[{said}]",
        *["click[next >]"] * (place // HITS_A_PAGE),
        f"click[{goal.asin.lower()}]",
        *filter(None, (written(Request("click", chosen[name])) for name in product.options if name in chosen)),
        "click[buy now]",
    )


def _sayable(said: str) -> str:
    """On one line and without brackets, which would end the words or begin others."""
    return " ".join(said.replace("[", " ").replace("]", " ").split())


def _place(catalogue: Catalogue, said: str, asin: str) -> int:
    hits = catalogue.search(said.lower(), HITS)
    return hits.index(asin) if asin in hits else HITS
