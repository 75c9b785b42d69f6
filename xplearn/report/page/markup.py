"""Sections as markup: every text of theirs escaped, no attribute that runs or loads anything."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from xplearn.report.figure import Figure, Piece, Section, Sheet
from xplearn.report.printable import printable
from xplearn.report.sheets import sheet_html


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A text to be copied, folded away."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A section of a page: figures and sheets, then texts to be copied."""

    section: Section
    listings: Sequence[Listing] = ()
    label: str = ""
    """In the navigation; by default its title."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show below its heading."""
        return not (self.section.pieces or self.section.lead or self.listings)


def escaped(text: str) -> str:
    """``text`` for a page: no markup, no control characters."""
    return html.escape(printable(text))


def link(part: Part) -> str:
    """An entry of the navigation."""
    return f'<li><a href="#{escaped(part.section.name)}">{escaped(part.label or part.section.title)}</a></li>'


def markup(part: Part) -> str:
    """A section with its heading, lead, pieces and listings."""
    section = part.section
    name = escaped(section.name)
    lead = f'<p class="lead">{escaped(section.lead)}</p>' if section.lead else ""
    groups = groupby(section.pieces, key=lambda piece: isinstance(piece, Figure))
    titles = {section.title}
    body = "".join([*(_group(list(pieces), titles) for _, pieces in groups), *map(_listing, part.listings)])
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{escaped(section.title)}</h2>{lead}{body}</section>'


def _group(pieces: Sequence[Piece], titles: set[str]) -> str:
    """Figures that follow one another stand side by side where there is room; tables have the whole width.

    Args:
        pieces: all figures, or all tables.
        titles: that stand above already and no table says again; those of the pieces join them.
    """
    found = [(piece, _head(piece, titles)) for piece in pieces]
    figures = "".join(_figure(piece, head) for piece, head in found if isinstance(piece, Figure))
    tables = "".join(_sheet(piece, head) for piece, head in found if isinstance(piece, Sheet))
    return f'<div class="figures">{figures}</div>' if figures else tables


def _head(piece: Piece, titles: set[str]) -> str:
    title = "" if piece.title in titles and isinstance(piece, Sheet) else f"<h3>{escaped(piece.title)}</h3>"
    titles.add(piece.title)
    return title + (f"<p>{escaped(piece.caption)}</p>" if piece.caption else "")


def _figure(figure: Figure, head: str) -> str:
    return (
        f'<figure id="figure-{escaped(figure.name)}"><figcaption>{head}</figcaption>'
        f'<div class="drawing" role="region" tabindex="0" aria-label="{escaped(figure.title)}">{printable(figure.svg)}</div></figure>'
    )


def _sheet(sheet: Sheet, head: str) -> str:
    table = sheet_html(replace(sheet, caption=""))
    return f'<div class="table" id="table-{escaped(sheet.name)}"><div class="table-head">{head}</div>{printable(table)}</div>'


def _listing(listing: Listing) -> str:
    return (
        f'<details class="listing"><summary>{escaped(listing.title)}</summary>'
        f'<pre class="code" tabindex="0">{escaped(listing.text)}</pre></details>'
    )
