"""What somebody who knows the goal does: search, find the product, choose its options, buy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xplearn_webshop import reward
from xplearn_webshop.session import HITS, HITS_A_PAGE, Mode

if TYPE_CHECKING:
    from xplearn_webshop.catalogue import Catalogue
    from xplearn_webshop.records import Goal

EARLY = 2 * HITS_A_PAGE
"""Words are good enough when the product is among so many first hits."""

_PRICE = re.compile(r", and price lower than [\d.]+ dollars$")
_OPTIONS = re.compile(r" with (?:(?! with )[^:,])+: .*$")


def queries(instruction: str) -> tuple[str, ...]:
    """Words to search for, from the instruction alone: without its price clause, then without its options as well."""
    said = _PRICE.sub("", instruction).strip()
    return tuple(dict.fromkeys((said, _OPTIONS.sub("", said))))


def words(catalogue: Catalogue, goal: Goal) -> tuple[str, int]:
    """What to search for to find the goal's product, and its place among the hits, from 0.

    The first of the ``queries`` that finds it early; else what finds it earliest, the title included.
    """
    places = {}
    for said in (*queries(goal.instruction), catalogue.product(goal.asin).name):
        hits = catalogue.search(said.lower(), HITS)
        places[said] = hits.index(goal.asin) if goal.asin in hits else HITS
        if places[said] < EARLY:
            return said, places[said]
    return min(places.items(), key=lambda item: item[1])


def options(catalogue: Catalogue, goal: Goal, mode: Mode) -> dict[str, str]:
    """The wanted value by option name; where a customer's words are not those of the page, what is worth most."""
    offered = catalogue.product(goal.asin).options
    if isinstance(goal.options, Mapping):
        return {name: goal.options[name] for name in offered if goal.options.get(name) in offered[name]}
    chosen = {name: value for name, values in offered.items() for value in values if value in goal.options}
    for name, values in offered.items():
        ways = (chosen, *({**chosen, name: value} for value in values))
        chosen = max(ways, key=lambda way: reward.score(catalogue, goal, goal.asin, way, mode).value)
    return chosen


def actions(catalogue: Catalogue, goal: Goal, mode: Mode) -> tuple[str, ...]:
    """From the first page to the purchase of the goal's product with its options."""
    said, place = words(catalogue, goal)
    return (
        f"search[{said}]",
        *["click[next >]"] * (place // HITS_A_PAGE),
        f"click[{goal.asin.lower()}]",
        *(f"click[{value}]" for value in options(catalogue, goal, mode).values()),
        "click[buy now]",
    )
