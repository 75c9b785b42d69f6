"""Pages as the observations ``text`` and ``text_rich``."""

from __future__ import annotations

from xplearn_webshop.pages import Node, Page


def plain(page: Page) -> str:
    """All visible text, with ``[SEP]`` between its pieces. It does not tell buttons from text, nor which options are chosen."""
    return " [SEP] ".join(text.strip() for _, text in page.visible())


def rich(page: Page) -> str:
    """A line for each piece, with buttons, products and options between brackets, and on top a line for each chosen option."""
    clicked = [f"You have clicked {text}.\n" for node, text in page.visible() if node.chosen and node.kind == "option"]
    return "".join(reversed(clicked)) + "".join(f"{_line(node, text)}\n" for node, text in page.visible())


def _line(node: Node, text: str) -> str:
    button = f"[clicked button] {text} [clicked button_]" if node.chosen else f"[button] {text} [button_]"
    match node.kind:
        case "button":
            return button
        case "link":
            return f"\n{button}"
        case "option":
            return f"  {button}"
        case _:
            return text
