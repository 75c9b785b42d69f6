"""What products cost and how much customers would pay: drawn by key, or those of one recorded load.

The original draws both without a seed while it loads. Here every draw has its own key, so that neither order nor subset changes it.
"""

from __future__ import annotations

import gzip
import json
import math
import operator
import random
import zlib
from collections.abc import Mapping
from typing import Any

from xplearn import DataError, derive
from xplearn_webshop.loading import located

NO_LIMIT = 1_000_000.0
"""The limit of a customer who names none."""
_STEPS = tuple(10.0 * step for step in range(1, 100))
_CHOICE = 4


def drawn_price(prices: tuple[float, ...], seed: int, asin: str) -> float:
    """The only price, or one from the range.

    Args:
        prices: one price, or the two ends of a range.
        seed: of the prices.
        asin: whose price it is.
    """
    return prices[0] if len(prices) == 1 else _draw(seed, "webshop.price", asin).uniform(*prices)


def drawn_limit(price: float, seed: int, asin: str, number: int) -> float:
    """The larger of two of the next four multiples of ten dollars above the price, up to 990; ``NO_LIMIT`` where fewer than two are left.

    Args:
        price: what the goal's product costs.
        seed: of the prices.
        asin: the goal's product.
        number: which of the product's instructions.
    """
    above = [step for step in _STEPS if step > price][:_CHOICE]
    return max(_draw(seed, "webshop.limit", asin, number).sample(above, 2)) if len(above) >= 2 else NO_LIMIT


def _draw(seed: int, *key: str | int) -> random.Random:
    return random.Random(derive(seed, *key))  # noqa: S311 - prices hold no secrets


class Load:
    """Prices and goals of one load of the original, from a file: ``{"prices": {id: dollars}, "goals": [{"index", "asin", …}, …]}``."""

    def __init__(self, path: str) -> None:
        self.path = path
        read = _read(path)
        try:
            self.prices = {str(asin).upper(): _amount(price) for asin, price in read["prices"].items()}
            self.goals: Mapping[int, Mapping[str, Any]] = {operator.index(goal["index"]): goal for goal in read.get("goals", ())}
            for goal in self.goals.values():
                _amount(goal["price_upper"]), goal["asin"], goal["attributes"], goal["goal_options"]
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(path, f"is no file of prices and goals of one load ({type(error).__name__}: {error})") from None

    def kind(self) -> str:
        """Which goals it holds: the options of synthetic ones have names."""
        named = {isinstance(goal["goal_options"], dict) for goal in self.goals.values()}
        if len(named) > 1:
            raise DataError(self.path, "mixes human goals with synthetic ones; give a file for each")
        return "" if not named else "synthetic" if named.pop() else "human"


def _amount(value: Any) -> float:
    amount = float(value)
    if not math.isfinite(amount):
        raise ValueError(f"{amount} dollars")
    return amount


def _read(path: str) -> Any:
    file = located(path)
    if not file.is_file():
        raise DataError(path, "there is no such file of prices; give an existing one, or leave prices= empty to draw them")
    try:
        raw = file.read_bytes()
        return json.loads(gzip.decompress(raw) if file.suffix == ".gz" else raw)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise DataError(path, f"cannot be read as JSON: damaged or cut; copy it again ({error})") from None
