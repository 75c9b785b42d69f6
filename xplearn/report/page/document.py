"""The HTML file: one page that loads nothing, from nowhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from xplearn import __version__
from xplearn.report.figures import stylesheet
from xplearn.report.page.markup import Part, escaped, link, markup
from xplearn.report.page.payload import Payload

SCRIPTS = ("data.js", "list.js", "episode.js", "tables.js", "main.js")
"""In the order they are run, as one module."""

_SLOT = re.compile(r"<!--(\w+)-->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What stands above and below everything."""

    title: str
    subtitle: str
    footer: str


def document(heading: Heading, parts: Sequence[Part], payload: Payload, held: str) -> str:
    """The whole page as text that UTF-8 can hold.

    Args:
        heading: what stands around it.
        parts: its sections; empty ones are left out.
        payload: episodes of the trace viewer.
        held: which of the episodes are in it, in words.
    """
    shown = [part for part in parts if not part.empty]
    style = _text("style.css") + _text("viewer/viewer.css") + stylesheet()
    script = "".join(_text(f"viewer/{name}") for name in SCRIPTS)
    slots = {
        "policy": policy(style, script),
        "version": escaped(__version__),
        "title": escaped(heading.title),
        "subtitle": escaped(heading.subtitle),
        "footer": escaped(heading.footer),
        "held": escaped(held),
        "style": style,
        "links": "".join(map(link, shown)) + '<li><a href="#episodes">Episodes</a></li>',
        "sections": "".join(map(markup, shown)),
        "payload": "".join(_inert(name, text) for name, text in _packed(payload).items()),
        "script": script,
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], _text("page.html"))


def policy(style: str, script: str) -> str:
    """The content security policy that lets this style and this script in, and no request out."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _packed(payload: Payload) -> Mapping[str, str]:
    return {"data-index": payload.index, **{f"data-chunk-{number}": chunk for number, chunk in enumerate(payload.chunks)}}


def _inert(name: str, base64_text: str) -> str:
    """An element that browsers neither run nor show: a script of no type they know."""
    return f'<script type="application/json+deflate" id="{name}">{base64_text}</script>\n'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
