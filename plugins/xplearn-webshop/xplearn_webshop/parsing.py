"""The published files' records in our form, with the load rules of the original.

Missing or odd fields become empty ones: only what has no id or no name is refused by the caller. Text stays as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from xplearn_webshop.records import Product

DUMMY_PRICE = 100.0
"""What the original charges where the data name no price."""
MAX_ASIN = 10
"""Characters of an id; the original skips products with longer ones."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_NOT_A_NUMBER = re.compile(r"[^\d.]")


def asin_of(raw: Mapping[str, Any]) -> str:
    """The id of a product, upper case; empty where the original skips it ("nan", or longer than ten characters)."""
    asin = text(raw.get("asin")).upper()
    return "" if asin == "NAN" or len(asin) > MAX_ASIN else asin


def product(asin: str, raw: Mapping[str, Any], attributes: Any, nouns: tuple[str, ...]) -> Product:
    """One entry of ``items_shuffle`` with its ``attributes`` of ``items_ins_v2``."""
    prices = prices_of(raw.get("pricing"))
    bullets = raw.get("small_description")
    images = raw.get("images")
    return Product(
        asin=asin,
        name=text(raw.get("name")),
        description=text(raw.get("full_description")),
        bullets=strings(bullets) if isinstance(bullets, list) else (text(bullets),),
        price_text=f"${prices[0]}" if len(prices) == 1 else f"${prices[0]} to ${prices[1]}",
        category=text(raw.get("category")),
        query=text(raw.get("query")).lower().strip(),
        product_category=text(raw.get("product_category")),
        options=options_of(raw.get("customization_options")),
        attributes=strings(attributes),
        image=text(images[0]) if isinstance(images, list) and images else "",
        nouns=nouns,
        prices=prices,
    )


def prices_of(value: Any) -> tuple[float, ...]:
    """One price or the two ends of a range from ``$9.99`` or ``$9.99$11.99``; the dummy where there is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"${value}"
    found = []
    for part in text(value).split("$")[1:]:
        try:
            found.append(float(_NOT_A_NUMBER.sub("", part)))
        except ValueError:
            continue
    return tuple(price for price in found if math.isfinite(price))[:2] or (DUMMY_PRICE,)


def options_of(value: Any) -> dict[str, tuple[str, ...]]:
    """Values by option name, all lower case, in the order of the page."""
    if not isinstance(value, Mapping):
        return {}
    listed = {text(name).lower(): contents for name, contents in value.items() if isinstance(contents, list)}
    return {name: tuple(_option_value(content) for content in contents) for name, contents in listed.items()}


def _option_value(content: Any) -> str:
    raw = content.get("value") if isinstance(content, Mapping) else content
    return text(raw).strip().replace("/", " | ").lower()


def to_record(product: Product) -> dict[str, Any]:
    """A product as JSON holds it."""
    return {name: getattr(product, name) for name in Product.__dataclass_fields__}


def from_record(record: Mapping[str, Any]) -> Product:
    """A product from what ``to_record`` gave."""
    options: Any = {name: tuple(values) for name, values in record["options"].items()}
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    return Product(**{**fields, "options": options})


def text(value: Any) -> str:
    """A text as it is but for lone surrogates, nothing as an empty one, anything else as Python writes it."""
    said = value if isinstance(value, str) else "" if value is None else str(value)
    return said if said.isascii() else _SURROGATES.sub("\ufffd", said)


def strings(value: Any) -> tuple[str, ...]:
    """The texts of a list; nothing where it is no list."""
    return tuple(text(part) for part in value) if isinstance(value, list) else ()


def document(product: Product) -> str:
    """What search reads of a product: title, description, the first bullet, options; lower case."""
    options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in product.options.items())
    return " ".join([product.name, product.description, *product.bullets[:1], options]).lower()
