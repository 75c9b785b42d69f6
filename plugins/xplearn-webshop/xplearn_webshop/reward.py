"""What a purchase is worth.

::

    value = r_type × (attributes met + options met + [price within the limit]) / (attributes + options + 1)

*original* follows the published reward to the digit, its quirks included: an attribute is met by a product attribute that is alike
(token-set ratio above 85) or literally in title, features or description; an option is met by *any* chosen value that is alike, after both
sides are reduced to the first colour word that they contain. So a wrong value can count ("royal blue" for "heather blue"), and for some
synthetic goals the right one does not ("dash" is bought as "ash").

*strict* asks for the very thing. An attribute is met by an equal product attribute (case does not count) or literally. An option is met
when the very value was chosen, of the option that the page sets for it; a human goal's value that its own product does not offer is not
counted. Buying the goal's product with its options is worth 1 for every goal.

r_type is the same in both: 1; 0.5 where the titles share at most 0.2 of the goal's nouns and neither query nor two parts of the category
agree; 0.1 below 0.1 of the nouns; 0 without a common noun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from xplearn_webshop.colors import plain_color
from xplearn_webshop.similarity import alike

if TYPE_CHECKING:
    from xplearn_webshop.catalogue import Catalogue
    from xplearn_webshop.records import Goal, Product

Mode = Literal["original", "strict"]
_NO_NOUNS = 0.2


@dataclass(frozen=True)
class Score:
    """The worth of one purchase."""

    value: float
    """In [0, 1]."""
    parts: Mapping[str, Any]
    """Shares (``r_``) and weights (``w_``) of type, attributes, options and price, and what the type was judged by; those of the options
    only where the goal has some."""


def score(catalogue: Catalogue, goal: Goal, bought: str, chosen: Mapping[str, str], mode: Mode) -> Score:
    """The reward for buying a product.

    Args:
        catalogue: what is sold, and for how much.
        goal: what was wanted.
        bought: id of the product.
        chosen: the chosen value by option name.
        mode: see the module.

    Raises:
        KeyError: no such product.
    """
    product, wanted = catalogue.product(bought), catalogue.product(goal.asin)
    kind = _type_parts(product, wanted)
    has = _has_alike if mode == "original" else _has_exactly
    attributes = sum(has(product, attribute) for attribute in goal.attributes)
    options, asked = _original_options(goal, chosen) if mode == "original" else _strict_options(wanted, goal, chosen)
    affordable = catalogue.price(bought) <= goal.price_upper
    total = len(goal.attributes) + asked + 1
    parts = {"r_type": kind["r_type"], "r_att": attributes / len(goal.attributes), "w_att": len(goal.attributes) / total, **kind}
    if asked:
        parts |= {"r_option": options / asked, "w_option": asked / total}
    parts |= {"r_price": affordable, "w_price": 1 / total}
    return Score(value=(attributes + options + affordable) / total * kind["r_type"], parts=parts)


def ceiling(catalogue: Catalogue, goal: Goal, mode: Mode) -> float:
    """What buying the goal's own product with the wanted options is worth, in [0, 1]."""
    return score(catalogue, goal, goal.asin, wanted_options(catalogue.product(goal.asin), goal), mode).value


def wanted_options(product: Product, goal: Goal) -> dict[str, str]:
    """What to choose on the page of the goal's product: value by option name.

    A human goal's value stands for the option that offers it, or else something alike; what is not offered is left out.
    """
    if isinstance(goal.options, Mapping):
        pairs: Sequence[tuple[str, str] | None] = list(goal.options.items())
    else:
        pairs = [_offered(product, value) for value in goal.options]
    return {_set_by(product, *pair): pair[1] for pair in pairs if pair}


def _type_parts(product: Product, wanted: Product) -> dict[str, Any]:
    """How far a product is of the wanted type, and by what."""
    query = product.query == wanted.query
    category = len(_category_parts(product) & _category_parts(wanted)) >= 2
    shared = len(set(product.nouns) & set(wanted.nouns))
    title = shared / len(wanted.nouns) if wanted.nouns else _NO_NOUNS
    worth = 1.0 if query or category or title > 0.2 else 0.5
    worth = 0.0 if title == 0 else 0.1 if title < 0.1 else worth
    return {"r_type": worth, "query_match": query, "category_match": category, "title_score": title}


def _category_parts(product: Product) -> set[str]:
    return {part.strip() for part in product.product_category.split("›")}


def _has_alike(product: Product, attribute: str) -> bool:
    return any(alike(own, attribute) for own in product.attributes) or _says(product, attribute)


def _has_exactly(product: Product, attribute: str) -> bool:
    return attribute.lower() in {own.lower() for own in product.attributes} or _says(product, attribute.lower())


def _says(product: Product, attribute: str) -> bool:
    """Whether the page says it, letter by letter."""
    return any(attribute in said.lower() for said in (product.name, " ".join(product.bullets), product.description))


def _original_options(goal: Goal, chosen: Mapping[str, str]) -> tuple[int, int]:
    """How many wanted options are met, and how many there are. A synthetic goal's are compared as (name, value), written out."""
    had = [str(plain_color(value)) for value in chosen.values()]
    options = list(goal.options.items()) if isinstance(goal.options, Mapping) else goal.options
    wanted = [str(plain_color(option)) for option in options]
    return sum(any(alike(value, option) for value in had) for option in wanted), len(wanted)


def _strict_options(product: Product, goal: Goal, chosen: Mapping[str, str]) -> tuple[int, int]:
    """How many wanted options were chosen to the letter, and how many can be."""
    wanted = wanted_options(product, goal)
    return sum(chosen.get(name) == value for name, value in wanted.items()), len(wanted)


def _offered(product: Product, value: str) -> tuple[str, str] | None:
    """The option and value of a product that a customer's word means; None where there is nothing alike."""
    values = [(name, offered) for name, all_offered in product.options.items() for offered in all_offered]
    exact = [pair for pair in values if pair[1] == value]
    near = exact or [pair for pair in values if alike(str(plain_color(pair[1])), str(plain_color(value)))]
    return near[0] if near else None


def _set_by(product: Product, name: str, value: str) -> str:
    """The option that a click on a value sets: the last one that offers it."""
    return next((other for other in reversed(list(product.options)) if value in product.options[other]), name)
