"""The own catalogue: 399 invented products and what their customers ask for, in the schema of the original's files.

Everything is computed from the tables beside this module and is the same on every machine; nothing is read before the first call.
"""

from __future__ import annotations

from typing import Any

from xplearn_webshop.own import catalogue, customers, words


def products() -> list[dict[str, Any]]:
    """The products, in the schema of ``items_shuffle.json``."""
    return [catalogue.record(item) for item in catalogue.items()]


def attributes() -> dict[str, dict[str, Any]]:
    """Attributes by product id, with the instruction of the synthetic goals, in the schema of ``items_ins_v2.json``."""
    return {item.asin: customers.promises(item) for item in catalogue.items()}


def human() -> dict[str, list[dict[str, Any]]]:
    """Customers' instructions by product id, in the schema of ``items_human_ins.json``."""
    return {item.asin: wishes for item in catalogue.items() if (wishes := customers.wishes(item))}


def nouns() -> dict[str, list[str]]:
    """The nouns of each title by product id, lower case."""
    return {item.asin: words.nouns(item.title) for item in catalogue.items()}
