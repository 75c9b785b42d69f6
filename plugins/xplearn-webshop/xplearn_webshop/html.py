"""Pages as HTML documents of our own: every button is a form that posts its action to ``/act``.

The visible text is that of ``text.plain``, piece by piece. All text is escaped, no script runs and nothing is fetched.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from xplearn_webshop.pages import Node, Page

Seen = tuple[Node, str]

STYLE = (
    ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}"
    "body{max-width:44rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}"
    "h1{font-size:1.35rem;line-height:1.3}h2,legend{font-size:1rem;font-weight:600;margin:.75rem 0 .25rem}"
    ".instruction{border-left:.25rem solid #4a7dbd;margin:0 0 1rem;padding-left:.75rem}"
    ".caption{font-weight:600;margin:0}"
    "form{display:inline}ol,ul{list-style:none;padding:0}li{margin:0 0 .75rem}"
    "li h2,li p,p{margin:.25rem 0}p{white-space:pre-wrap}fieldset{border:1px solid #8888;border-radius:.4rem;margin:.75rem 0}"
    "button,input{font:inherit;padding:.3rem .7rem;margin:.15rem .3rem .15rem 0;border:1px solid #8888;border-radius:.4rem}"
    "input{width:min(26rem,70vw)}button[aria-pressed=true]{background:#2f5f9e;color:#fff}"
)

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def document(page: Page) -> str:
    """The page as a whole document."""
    titles = {"search": "Search", "results": "Results", "item": "Product", "details": "About the product", "done": "Thank you"}
    title, body = titles[page.kind], "".join(_blocks(page))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<title>{title} · WebShop</title><style>{STYLE}</style></head><body><main aria-label="{title}">{body}</main></body></html>'
    )


def _blocks(page: Page) -> Iterator[str]:
    for kind, seen in groupby(page.visible(), lambda pair: _block(page, pair[0])):
        match kind:
            case "hits":
                yield f"<ol>{''.join(_hits(page, list(seen)))}</ol>"
            case "bullets":
                yield f"<ul>{''.join(f'<li>{_piece(page, *pair)}</li>' for pair in seen)}</ul>"
            case "options":
                yield from _options(page, list(seen))
            case _:
                yield from (_piece(page, *pair) for pair in seen)


def _block(page: Page, node: Node) -> str:
    if page.kind == "results" and node.kind in ("link", "title", "price"):
        return "hits"
    return {"bullet": "bullets", "option": "options", "option name": "options"}.get(node.kind, "")


def _hits(page: Page, seen: list[Seen]) -> Iterator[str]:
    for row in _starting_with(seen, "link"):
        yield f"<li>{''.join(_piece(page, *pair) for pair in row)}</li>"


def _options(page: Page, seen: list[Seen]) -> Iterator[str]:
    for group in _starting_with(seen, "option name"):
        yield f"<fieldset>{''.join(_piece(page, *pair) for pair in group)}</fieldset>"


def _starting_with(seen: Iterable[Seen], kind: str) -> list[list[Seen]]:
    groups: list[list[Seen]] = []
    for pair in seen:
        if pair[0].kind == kind or not groups:
            groups.append([])
        groups[-1].append(pair)
    return groups


def _piece(page: Page, node: Node, text: str) -> str:
    shown = escaped(text)
    match node.kind:
        case "heading":
            return f"<h1>{shown}</h1>"
        case "title":
            level = "h2" if page.kind == "results" else "h1"
            return f"<{level}>{shown}</{level}>"
        case "caption" if page.kind == "done":
            return f"<h2>{shown}</h2>"
        case "caption" | "instruction":
            return f'<p class="{node.kind}">{shown}</p>'
        case "option name":
            return f"<legend>{shown}</legend>"
        case "button" if page.kind == "search":
            return _search_box(shown)
        case "button" | "link":
            return _button(shown, escaped(node.text.lower()))
        case "option":
            return _button(shown, escaped(node.text), f' aria-pressed="{"true" if node.chosen else "false"}"')
        case _:
            return f"<p>{shown}</p>"


def _search_box(label: str) -> str:
    return (
        '<form method="post" action="/act" role="search"><input type="hidden" name="template" value="search[%s]">'
        f'<input type="search" name="text" aria-label="Search the shop" required autofocus><button>{label}</button></form>'
    )


def _button(label: str, clicked: str, state: str = "") -> str:
    return f'<form method="post" action="/act"><button name="action" value="click[{clicked}]"{state}>{label}</button></form>'


def escaped(text: str) -> str:
    """Text for a page: no markup, no quotes, no control characters."""
    return html.escape(_UNPRINTABLE.sub("\ufffd", text))
