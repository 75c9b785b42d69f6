"""What customers want: human and synthetic goals in the canonical order, made when they are looked at.

A *wish* is one instruction for one product. A human wish is one goal; a synthetic wish stands for one goal per combination of its
product's option values, so that the published 1,000 products make 6,910 goals out of 415 wishes. The canonical order is the original's:
wishes in the order of the products, combinations in the order of the page with option names sorted, then one shuffle with seed 233.
"""

from __future__ import annotations

import functools
import hashlib
import math
import random
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from xplearn import DataError, derive
from xplearn_webshop.prices import NO_LIMIT, Load, drawn_limit
from xplearn_webshop.records import Goal, Product
from xplearn_webshop.stored import Records, RecordWriter, mapped

Kind = Literal["human", "synthetic"]
KINDS: tuple[Kind, ...] = ("human", "synthetic")
OFFICIAL = "official: goals 0-499 are test, 500-1,499 dev, the rest train"
BY_PRODUCT = "by product: about 70 % train, 15 % dev and 15 % test, from a hash of the product's id"

_SEED = 233
_MOST = 100_000_000
"""Goals of one kind; a product with dozens of options has more ways to be chosen than any memory holds."""
_TEST, _DEV = 500, 1500
_SHARES = ((0.70, "train"), (0.85, "dev"), (1.0, "test"))


class GoalWriter:
    """Takes the wishes of one kind in the order of the products, then writes them with their weights and order."""

    def __init__(self, folder: Path, kind: Kind, digest: hashlib.blake2b) -> None:
        self._folder, self._kind = folder, kind
        self._records = RecordWriter(folder, kind, digest)
        self._starts = array("q", [0])
        self._frequency: Counter[str] = Counter()

    def add(
        self, asin: str, number: int, *, instruction: str, attributes: Sequence[str], options: Sequence[str] | None, count: int
    ) -> None:
        """One more wish, the product's ``number``-th, for ``count`` goals; without attributes it is none."""
        if not attributes:
            return
        if self._starts[-1] + count > _MOST:
            raise DataError(asin, f"its options combine in {count:,} ways, and more than {_MOST:,} {self._kind} goals in all are too many")
        self._records.add([asin, number, instruction, attributes, options])
        self._starts.append(self._starts[-1] + count)
        for attribute in attributes:
            self._frequency[attribute] += count

    def close(self) -> None:
        """Complete the wishes' files."""
        self._records.close()

    def finish(self) -> int:
        """Write it all; how many goals there are."""
        self.close()
        self._save("starts", self._starts)
        self._save("weights", array("d", self._weights()))
        order: Any = array("q", range(self._starts[-1]))
        random.Random(_SEED).shuffle(order)  # noqa: S311 - the published order
        self._save("order", order)
        return len(order)

    def _save(self, name: str, values: array[Any]) -> None:
        np.save(self._folder / f"{self._kind}.{name}.npy", np.array(values))

    def _weights(self) -> Iterator[float]:
        """Of each wish: the mean of 1 / frequency over its attributes; 1 for human ones."""
        wishes = Records(self._folder, self._kind)
        for place in range(len(wishes)):
            attributes = wishes[place][3]
            rarity = sum(1.0 / max(self._frequency[attribute], 1) for attribute in attributes)
            yield 1.0 if self._kind == "human" else rarity / len(attributes)


@dataclass(frozen=True, slots=True)
class _Wish:
    """An instruction for a product, with its limit drawn."""

    product: Product
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str, ...] | None
    limit: float
    weight: float
    split: str


class Goals(Sequence[Goal]):
    """All goals of a kind, in the canonical order; read-only and shared.

    Args:
        folder: where ``GoalWriter`` wrote.
        kind: which goals.
        product: gives a product by its id.
        price: gives its price.
        seed: of the limits that ``load`` leaves open.
        load: prices and goals of one recorded load; its limits hold for every goal of the same wish.
        official: whether the official splits hold, else those by product.

    Raises:
        DataError: ``load`` belongs to other data.
    """

    def __init__(
        self,
        folder: Path,
        kind: Kind,
        *,
        product: Callable[[str], Product],
        price: Callable[[str], float],
        seed: int,
        load: Load | None,
        official: bool,
    ) -> None:
        self._product, self._price, self._seed, self._official = product, price, seed, official
        self._wishes = Records(folder, kind)
        self._starts, self._weights, self._order = (mapped(folder / f"{kind}.{name}.npy") for name in ("starts", "weights", "order"))
        self._wish = functools.lru_cache(maxsize=4096)(self._read_wish)
        self._limits: dict[int, float] = {}
        if load is not None and load.kind() == kind:
            self._follow(load)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Goal: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Goal, ...]: ...
    def __getitem__(self, index: int | slice) -> Goal | tuple[Goal, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} goals")
        return self._goal(index % len(self))

    def members(self, split: str) -> Sequence[int]:
        """Indices of the goals of a split, in order; ``all`` for every goal."""
        if split == "all":
            return range(len(self))
        if self._official:
            return _official_range(split, len(self))
        return np.flatnonzero(self._splits[np.searchsorted(self._starts, self._order, side="right") - 1] == split).tolist()

    @functools.cached_property
    def _splits(self) -> np.ndarray[Any, Any]:
        """The split of each wish, where the official ones do not hold."""
        return np.array([split_of(self._wishes[place][0]) for place in range(len(self._wishes))], dtype=str)

    def _goal(self, index: int) -> Goal:
        place, combination = self._placed(index)
        wish = self._wish(place)
        options, said = _combination(wish.product, combination) if wish.options is None else (wish.options, "")
        clause = "" if wish.limit == NO_LIMIT else f", and price lower than {wish.limit:.2f} dollars"
        return Goal(
            index=index,
            asin=wish.product.asin,
            instruction=f"{wish.instruction}{said}{clause}",
            attributes=wish.attributes,
            options=options,
            price_upper=wish.limit,
            weight=wish.weight,
            split=_official_split(index) if self._official else wish.split,
        )

    def _placed(self, index: int) -> tuple[int, int]:
        """The wish behind a goal, and which of the wish's combinations it is."""
        ordinal = self._order[index]
        place = int(np.searchsorted(self._starts, ordinal, side="right")) - 1
        return place, int(ordinal - self._starts[place])

    def _read_wish(self, place: int) -> _Wish:
        asin, number, instruction, attributes, options = self._wishes[place]
        limit = self._limits.get(place)
        return _Wish(
            product=self._product(asin),
            instruction=instruction,
            attributes=tuple(attributes),
            options=None if options is None else tuple(options),
            limit=drawn_limit(self._price(asin), self._seed, asin, number) if limit is None else limit,
            weight=float(self._weights[place]),
            split=split_of(asin),
        )

    def _follow(self, load: Load) -> None:
        """Take over the limits of a recorded load, whose goals must be ours."""
        for index, row in load.goals.items():
            if index not in range(len(self)):
                raise DataError(load.path, f"has a goal {index}, but the data make {len(self)} such goals: it belongs to other data")
            goal, place = self._goal(index), self._placed(index)[0]
            options = dict(goal.options) if isinstance(goal.options, Mapping) else list(goal.options)
            if (goal.asin, list(goal.attributes), options) != (row["asin"], row["attributes"], row["goal_options"]):
                raise DataError(load.path, f"its goal {index} is for {row['asin']}, the data's for {goal.asin}: it belongs to other data")
            self._limits[place] = float(row["price_upper"])
        self._wish.cache_clear()


def combinations(product: Product) -> int:
    """How many ways there are to choose one value of every option."""
    return math.prod(len(values) for values in product.options.values())


def split_of(asin: str) -> str:
    """The split of a product where the official splits do not hold."""
    place = derive(0, "webshop.split", asin) / 2**63
    return next(split for share, split in _SHARES if place < share or share == 1)


def _official_split(index: int) -> str:
    return "test" if index < _TEST else "dev" if index < _DEV else "train"


def _official_range(split: str, count: int) -> range:
    bounds = {"test": (0, _TEST), "dev": (_TEST, _DEV), "train": (_DEV, count)}
    return range(*(min(bound, count) for bound in bounds.get(split, (0, 0))))


def _combination(product: Product, number: int) -> tuple[dict[str, str], str]:
    """The ``number``-th combination of option values, by name, and how the instruction says it."""
    chosen = {}
    for name in sorted(product.options, reverse=True):
        number, place = divmod(number, len(product.options[name]))
        chosen[name] = product.options[name][place]
    options = dict(reversed(chosen.items()))
    said = ", and ".join(f"{name}: {value}" for name, value in options.items())
    return options, f" with {said}" if said else ""
