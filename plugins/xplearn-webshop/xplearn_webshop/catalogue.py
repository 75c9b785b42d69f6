"""The shop's catalogue: products, prices, search and goals, read-only and shared.

Everything lies in flat files that are mapped into memory: environments of a process hold one object, worker processes share its pages.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from xplearn import DataError
from xplearn_webshop import compiled, loading
from xplearn_webshop.goals import BY_PRODUCT, KINDS, OFFICIAL, Goals, Kind
from xplearn_webshop.nouns import tagger
from xplearn_webshop.parsing import MAX_ASIN, from_record
from xplearn_webshop.prices import Load, drawn_price
from xplearn_webshop.records import Product
from xplearn_webshop.search import Index
from xplearn_webshop.stored import Records, mapped

_FULL_PRODUCTS, _FULL_GOALS = 1000, 12_000
"""The official splits were made for the full set: more products than this and at least so many human goals."""
_lock = threading.Lock()
_opened: WeakValueDictionary[tuple[str, str, int], Catalogue] = WeakValueDictionary()


def open_catalogue(data: str = "", *, prices: str = "", price_seed: int = 0, nouns: str = "") -> Catalogue:
    """The catalogue of these data, compiled at first use; the same object for the same arguments within a process.

    Args:
        data: folder of the published files (or the one file of products); empty for the own catalogue.
        prices: file with the prices and goals of one load of the original; empty to draw them.
        price_seed: of the drawn prices and limits.
        nouns: file with the nouns of the titles, ``words``, or empty: the file in ``data``, else spaCy.

    Raises:
        DataError: a file is missing, damaged, partial or of other data; the message says how to get it.
    """
    source = loading.files(data) if data else loading.own()
    tagged = tagger(nouns, source)
    priced = loading.located(prices)
    stamp = loading.stamp(priced) if priced.is_file() else prices
    key = (compiled.key(source, tagged), stamp, price_seed)
    with _lock:
        found = _opened.get(key)
        if found is None:
            folder, header = compiled.compiled(source, tagged)
            found = Catalogue(folder, header, Load(prices) if prices else None, price_seed)
            _opened[key] = found
    return found


class Catalogue:
    """Products, prices, search and goals of one set of data.

    Args:
        folder: of the compiled data.
        header: what was compiled.
        load: prices and goals of one recorded load, if any.
        price_seed: of the prices and limits drawn otherwise.

    Raises:
        DataError: ``load`` belongs to other data.
    """

    def __init__(self, folder: Path, header: Mapping[str, Any], load: Load | None, price_seed: int) -> None:
        self._folder, self._header, self._seed = folder, header, price_seed
        self._products = Records(folder, "products")
        self._asins, self._order = mapped(folder / "asins.npy"), mapped(folder / "asins.order.npy")
        self._ranks = mapped(folder / "ranks.npy")
        self._index = Index(folder, size=len(self._ranks), documents=header["documents"], ranks=self._ranks)
        self._product = functools.lru_cache(maxsize=4096)(self._read)
        self._search = functools.lru_cache(maxsize=256)(self._find)
        self._load = load
        self._prices = self._loaded(load) if load else None
        self._goals = {kind: self._opened_goals(kind, load) for kind in KINDS}
        self.digest: str = _digest(header["digest"], load, price_seed)
        """Of products, instructions, nouns and prices: the same data give the same digest anywhere."""

    def __len__(self) -> int:
        return len(self._products)

    def __contains__(self, asin: object) -> bool:
        return isinstance(asin, str) and self._place(asin) is not None

    def product(self, asin: str) -> Product:
        """The product with this id.

        Raises:
            KeyError: there is none.
        """
        return self._product(asin)

    def price(self, asin: str) -> float:
        """What a product costs in this catalogue, in dollars: its price, or the one drawn from its range.

        Raises:
            KeyError: there is no such product.
        """
        if self._prices is None:
            return drawn_price(self._product(asin).prices, self._seed, asin)
        return float(self._prices[self._known(asin)])

    def search(self, words: str, k: int = 50) -> tuple[str, ...]:
        """Ids of the best products for these words, best first, in the order of the original's search engine.

        Args:
            words: any text; each product that holds at least one of them can be found.
            k: how many at most.
        """
        return self._search(words, k)

    def goals(self, kind: Kind) -> Goals:
        """All goals of a kind, in the canonical order; a goal's ``index`` is its place.

        Raises:
            DataError: there are none, the recorded load is of the other kind, or human goals are asked for and their file is missing.
        """
        if self._load is not None and self._load.kind() not in ("", kind):
            raise DataError(self._load.path, f"was recorded with {self._load.kind()} goals, not {kind} ones; give the file of such a load")
        if kind == "human" and not self._header["human file"]:
            raise DataError(self._header["source"], f"there is no items_human_ins.json for human goals; {loading.GET}")
        if not self._goals[kind]:
            raise DataError(self._header["source"], f"the instructions make no {kind} goals; {loading.GET}")
        return self._goals[kind]

    @property
    def split_rule(self) -> str:
        """How goals are split: the official ranges for the full set, else by product."""
        return OFFICIAL if self._official else BY_PRODUCT

    @property
    def counts(self) -> Mapping[str, int]:
        """How many ``products``, ``human goals`` and ``synthetic goals`` there are."""
        return MappingProxyType(self._header["counts"])

    @property
    def _official(self) -> bool:
        return len(self) > _FULL_PRODUCTS and self._header["counts"]["human goals"] >= _FULL_GOALS

    def _opened_goals(self, kind: Kind, load: Load | None) -> Goals:
        return Goals(
            self._folder,
            kind,
            product=self.product,
            price=self.price,
            seed=self._seed,
            load=load,
            official=self._official,
        )

    def _place(self, asin: str) -> int | None:
        """Where an id stands in their order."""
        place = int(np.searchsorted(self._asins, asin)) if len(asin) <= MAX_ASIN else len(self)
        return place if place < len(self) and self._asins[place] == asin else None

    def _known(self, asin: str) -> int:
        place = self._place(asin)
        if place is None:
            raise KeyError(asin)
        return place

    def _read(self, asin: str) -> Product:
        return from_record(self._products[int(self._order[self._known(asin)])])

    def _find(self, words: str, k: int) -> tuple[str, ...]:
        return tuple(self._asins[self._ranks[self._index.search(words, k)]].tolist())

    def _loaded(self, load: Load) -> np.ndarray[Any, Any]:
        """The prices of a recorded load, in the order of the ids."""
        prices = load.prices
        missing = [asin for asin in self._asins.tolist() if asin not in prices]
        if missing:
            raise DataError(
                load.path, f"has no price for {len(missing):,} of {len(self):,} products ({missing[0]}): it belongs to other data"
            )
        return np.array([prices[asin] for asin in self._asins.tolist()])


def _digest(content: str, load: Load | None, seed: int) -> str:
    priced = json.dumps([load.prices, list(load.goals.values())], sort_keys=True) if load else f"seed {seed}"
    return hashlib.blake2b(f"{content} {priced}".encode(), digest_size=8).hexdigest()
