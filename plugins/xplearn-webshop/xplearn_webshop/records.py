"""What a shop sells and what a customer wants, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One product, with the names and values in the form the pages and the reward use."""

    asin: str
    """Its id, upper case."""
    name: str
    """The title."""
    description: str
    """``full_description``."""
    bullets: tuple[str, ...]
    """``small_description``: the features."""
    price_text: str
    """As shown: ``$9.99`` or ``$9.99 to $11.99``."""
    category: str
    """E.g. ``beauty``."""
    query: str
    """The query it was found by, lower case."""
    product_category: str
    """``A › B › C``."""
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values by option name, all lower case, in the order of the page."""
    attributes: tuple[str, ...] = ()
    image: str = ""
    """Address of the main picture; never fetched."""
    nouns: tuple[str, ...] = ()
    """The nouns of the title, lower case, in its order; a repeated noun stands here repeatedly, for the title score counts it so."""
    prices: tuple[float, ...] = (100.0,)
    """One price in dollars, or the two ends of a range (at times the higher first); 100 where the data name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What one customer wants."""

    index: int
    """Place in the canonical order."""
    asin: str
    """The product that fulfils it."""
    instruction: str
    """What the customer says, price clause included."""
    attributes: tuple[str, ...]
    options: tuple[str, ...] | Mapping[str, str]
    """Values (human goals), or value by option name (synthetic goals)."""
    price_upper: float
    """Most it may cost, in dollars; 1,000,000 where no limit was drawn."""
    weight: float = 1.0
    """How likely the original draws it."""
    split: str = ""
    """``train``, ``dev`` or ``test``."""
