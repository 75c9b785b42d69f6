"""One customer's visit to the shop: which page is open, and what an action leads to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from xplearn_webshop import pages, reward
from xplearn_webshop.actions import Request
from xplearn_webshop.pages import BACK, BUY, DETAILS, NEXT, PREVIOUS, SEARCH, Node, Page

if TYPE_CHECKING:
    from xplearn_webshop.catalogue import Catalogue
    from xplearn_webshop.records import Goal

BASE = "http://127.0.0.1:3000"
"""Where the original stood when it was recorded; nothing is served there."""

HITS = 50
"""Results of a search, at most."""

HITS_A_PAGE = 10

_PLACES = ("search_results", "item_page", "item_sub_page", "done")


class Session:
    """A visit with one goal, from the first page until something is bought.

    The address holds all that the next page depends on, as in the original: words, page number, product and options.
    """

    def __init__(self, catalogue: Catalogue, goal: Goal, mode: reward.Mode) -> None:
        """Open the first page."""
        self._catalogue, self.goal, self._mode = catalogue, goal, mode
        self.page: Page
        self.bought: reward.Score | None = None
        """What the purchase was worth; None until there is one."""
        self._start()

    def take(self, request: Request | None) -> bool:
        """Follow a request. False, and nothing happens, where it is none or clicks on what is not there."""
        if request is None:
            return False
        if request.verb == "search":
            self._search(request.words)
            return True
        node = self.page.clickables.get(request.words)
        if node is None or request.words == SEARCH.lower():
            return False
        self._click(request.words, node)
        return True

    def _click(self, label: str, node: Node) -> None:
        place = next((name for name in _PLACES if name in self.page.url), "")
        if label == BUY.lower():
            self._buy()
        elif label == BACK.lower():
            self._start()
        elif label == NEXT.lower() and place == "search_results":
            self._results(self._number + 1)
        elif label == PREVIOUS.lower() and place == "search_results":
            self._results(self._number - 1)
        elif label == PREVIOUS.lower() and place == "item_page":
            self._results(self._number)
        elif label.capitalize() in DETAILS:
            self._details(label.capitalize())
        else:
            self._item(label, node)

    def _start(self) -> None:
        self._words, self._number, self._hits = "", 0, tuple[str, ...]()
        self._asin, self._seen, self._options = "", set[str](), dict[str, str]()
        self.page = pages.search_page(f"{BASE}/{self.goal.index}", self.goal.instruction)

    def _search(self, words: str) -> None:
        self._words = words
        self._hits = tuple(self._catalogue.search(words, HITS))
        self._results(1)

    def _results(self, number: int) -> None:
        self._number, self._options = number, {}
        shown = self._hits[(number - 1) * HITS_A_PAGE : number * HITS_A_PAGE]
        self.page = pages.results_page(
            self._url("search_results", self._query(), number),
            self.goal.instruction,
            [self._catalogue.product(asin) for asin in shown],
            number=number,
            total=len(self._hits),
            seen=self._seen,
        )

    def _item(self, label: str, node: Node) -> None:
        if node.kind == "link":
            self._asin = node.text
            self._seen.add(node.text)
        elif node.kind == "option":
            self._options[node.option] = label
        url = self._url("item_page", self._asin, self._query(), self._number, json.dumps(self._options))
        self.page = pages.item_page(url, self.goal.instruction, self._catalogue.product(self._asin))

    def _details(self, which: str) -> None:
        url = self._url("item_sub_page", self._asin, self._query(), self._number, which, self._options)
        self.page = pages.details_page(url, self.goal.instruction, self._catalogue.product(self._asin), which)

    def _buy(self) -> None:
        self.bought = reward.score(self._catalogue, self.goal, self._asin, self._options, self._mode)
        url = self._url("done", self._asin, self._options)
        self.page = pages.done_page(url, self._asin, self._options, self.bought.value)

    def _query(self) -> str:
        return self._words.replace(" ", "+")

    def _url(self, place: str, *parts: object) -> str:
        return "/".join((BASE, place, str(self.goal.index), *map(str, parts)))
