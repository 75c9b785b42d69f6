"""Sections as markup: every text of theirs escaped, no attribute that runs or loads anything."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from xplearn.report.figure import Fact, Figure, Piece, Section, Sheet
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
    facts = f'<dl class="facts">{"".join(map(_fact, section.facts))}</dl>' if section.facts else ""
    groups = groupby(section.pieces, key=lambda piece: piece.name in section.aside)
    body = "".join(_folded(list(pieces), section) if aside else _pieces(list(pieces), section) for aside, pieces in groups)
    listings = "".join(map(_listing, part.listings))
    heading = f'<h2 id="{name}-title">{escaped(section.title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{heading}{lead}{facts}{body}{listings}</section>'


def _fact(fact: Fact) -> str:
    note = f"<span>{escaped(fact.note)}</span>" if fact.note else ""
    return f"<div><dt>{escaped(fact.label)}</dt><dd><b>{escaped(fact.value)}</b>{note}</dd></div>"


def _folded(pieces: Sequence[Piece], section: Section) -> str:
    """Pieces that are shown when asked for."""
    titles = [title for piece in pieces if (title := _title(piece, section))]
    summary = f"<summary>{escaped(' · '.join(titles) or f'{section.title}, as a table')}</summary>"
    return f'<details class="more">{summary}<div class="inside">{_pieces(pieces, section)}</div></details>'


def _pieces(pieces: Sequence[Piece], section: Section) -> str:
    """Figures that follow one another stand side by side where there is room; tables have the whole width."""
    return "".join(_group(list(found), section) for _, found in groupby(pieces, key=lambda piece: isinstance(piece, Figure)))


def _group(pieces: Sequence[Piece], section: Section) -> str:
    figures = "".join(_figure(piece, _head(piece, section)) for piece in pieces if isinstance(piece, Figure))
    tables = "".join(_sheet(piece, _head(piece, section)) for piece in pieces if isinstance(piece, Sheet))
    return f'<div class="figures">{figures}</div>' if figures else tables


def _head(piece: Piece, section: Section) -> str:
    title = _title(piece, section)
    return (f"<h3>{escaped(title)}</h3>" if title else "") + (f"<p>{escaped(piece.caption)}</p>" if piece.caption else "")


def _title(piece: Piece, section: Section) -> str:
    """What the section's heading does not say already."""
    head, colon, tail = piece.title.rpartition(": ")
    title = head if colon and tail.casefold() == section.title.casefold() else piece.title
    return "" if title.casefold() == section.title.casefold() else title


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
