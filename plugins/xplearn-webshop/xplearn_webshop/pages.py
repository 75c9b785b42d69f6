"""The shop's pages as data: what stands on them, in order. ``text``, ``rich`` and ``html`` are three ways to write them down."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from xplearn_webshop.records import Product

PageKind = Literal["search", "results", "item", "details", "done"]

NodeKind = Literal["heading", "caption", "instruction", "text", "bullet", "title", "price", "button", "link", "option name", "option"]

DETAILS = ("Description", "Features", "Reviews")
"""The pages about a product; reviews are not part of the published data, so theirs is empty."""

SEARCH, BACK, PREVIOUS, NEXT, BUY = "Search", "Back to Search", "< Prev", "Next >", "Buy Now"

_UNSHOWN = tuple(word for name in ("attrs", "category", "query", "product category") for word in (name, "None"))

_SPACES = " \n\t\f\r"


@dataclass(frozen=True, slots=True)
class Node:
    """One piece of text."""

    text: str
    kind: NodeKind = "text"
    option: str = ""
    """The option that an ``option`` node is a value of."""
    chosen: bool = False
    """An option that shows as chosen, or a product looked at before."""


@dataclass(frozen=True)
class Page:
    """One page."""

    kind: PageKind
    url: str
    nodes: tuple[Node, ...]

    @cached_property
    def clickables(self) -> Mapping[str, Node]:
        """What can be clicked, by its label in lower case: buttons, products, then options. Of equal labels the last one counts."""
        buttons = {node.text.lower(): node for kind in ("button", "link") for node in self.nodes if node.kind == kind}
        return buttons | {node.text: node for node in self.nodes if node.kind == "option"}

    @property
    def available(self) -> dict[str, Any]:
        """``has_search_bar`` and the labels of ``clickables``."""
        return {"has_search_bar": self.kind == "search", "clickables": list(self.clickables)}

    def visible(self) -> Iterator[tuple[Node, str]]:
        """The nodes that are seen, each with its text: blank ones shrink to one space, those with a line break to nothing."""
        for node in self.nodes:
            if node.text.strip(_SPACES):
                yield node, node.text
            elif node.text and "\n" not in node.text:
                yield node, " "


def search_page(url: str, instruction: str) -> Page:
    """The first page."""
    nodes = (Node("WebShop", "heading"), Node("Instruction: ", "caption"), Node(instruction, "instruction"), Node(SEARCH, "button"))
    return Page("search", url, nodes)


def results_page(url: str, instruction: str, products: Sequence[Product], *, number: int, total: int, seen: Collection[str] = ()) -> Page:
    """One page of a search's hits; ``seen`` are the products looked at before."""
    nodes = [*_head(instruction), Node(f"Page {number} (Total results: {total})", "heading")]
    if number > 1:
        nodes.append(Node(PREVIOUS, "button"))
    nodes.append(Node(NEXT, "button"))
    for product in products:
        nodes += [Node(product.asin, "link", chosen=product.asin in seen)]
        nodes += [Node(product.name, "title"), Node(product.price_text, "price")]
    return Page("results", url, tuple(nodes))


def item_page(url: str, instruction: str, product: Product) -> Page:
    """A product with its options. A value shows as chosen where it stands in the address as it is, between double quotes."""
    nodes = [*_head(instruction), Node(PREVIOUS, "button")]
    for name, values in product.options.items():
        nodes.append(Node(name, "option name"))
        nodes += [Node(value, "option", name, f'"{value}"' in url) for value in values]
    nodes += [Node(product.name, "title"), Node(f"Price: {product.price_text}", "price"), Node("Rating: N.A.")]
    nodes += [Node(label, "button") for label in (*DETAILS, BUY)]
    return Page("item", url, tuple(nodes))


def details_page(url: str, instruction: str, product: Product, which: str) -> Page:
    """One of the ``DETAILS`` of a product."""
    nodes = [*_head(instruction), Node(PREVIOUS, "button")]
    if which == "Description":
        nodes.append(Node(product.description))
    if which == "Features":
        nodes += [Node(f" {bullet}", "bullet") for bullet in product.bullets]
    return Page("details", url, tuple(nodes))


def done_page(url: str, asin: str, options: Mapping[str, str], reward: float) -> Page:
    """The receipt, with the score. What the original leaves empty or fills with None is so here."""
    captioned = (
        ("Your code: ", ("None", " (Paste it in your MTurk interface.)")),
        ("Purchased", ("asin", asin, "options", _shown(options), *_UNSHOWN)),
        ("Target", ("asin", "options", "attrs", "price upper", "instuction text", "category", "product category", "query")),
        ("Goal ", ("None",)),
        ("Reward", ("Your score (min 0.0, max 1.0)", str(reward))),
        ("Reward Details ", ("None",)),
    )
    nodes = [Node("Thank you for shopping with us!", "heading")]
    nodes += [node for caption, texts in captioned for node in (Node(caption, "caption"), *map(Node, texts))]
    return Page("done", url, tuple(nodes))


def _head(instruction: str) -> tuple[Node, ...]:
    return Node("Instruction:", "caption"), Node(instruction, "instruction"), Node(BACK, "button")


def _shown(options: Mapping[str, str]) -> str:
    """JSON with sorted names, safe inside markup."""
    shown = json.dumps(dict(options), sort_keys=True)
    for character in "<>&'":
        shown = shown.replace(character, f"\\u{ord(character):04x}")
    return shown
