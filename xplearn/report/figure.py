"""What a report is made of: figures and sheets, drawn apart from the page that holds them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xplearn.metrics.bootstrap import Interval

Cell = str | float | int | Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One drawing."""

    name: str
    """Of its file and its anchor: lower case, digits and hyphens; unique within a report."""
    title: str
    caption: str
    """What is seen, in a sentence, for whoever only looks."""
    svg: str
    """A whole ``<svg>`` element with a viewBox, colours from the kit's classes only, every text escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One table."""

    name: str
    """As in ``Figure``; unique among figures and sheets."""
    title: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    """Text as it is shown; a number where it may be sorted by, which is shown with one decimal; None where there is nothing."""
    marked: Sequence[int] = ()
    """Rows that stand out, e.g. those tied with the best."""
    signed: Sequence[int] = ()
    """Columns whose numbers and intervals are differences: shown with their sign."""
    strong: Sequence[tuple[int, int]] = ()
    """Row and column of cells that stand out."""
    spare: Sequence[str] = ()
    """Names of columns that a narrow terminal can do without, the first before the others."""


Piece = Figure | Sheet


class Fact(NamedTuple):
    """What is seen at a glance."""

    label: str
    value: str
    """A number or a name: few words."""
    note: str = ""
    """What it is, in half a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Pieces under one heading."""

    name: str
    """Of its anchor."""
    title: str
    lead: str
    """One or two sentences; may be empty."""
    pieces: Sequence[Piece]
    aside: Collection[str] = ()
    """Names of pieces that a page folds away: they are for whoever wants to know more."""
    facts: Sequence[Fact] = ()
    """Below the lead."""
