"""A report as one HTML file that opens offline, with its figures and tables as files beside it.

Everything that comes from runs is data: escaped on its way into the markup, a text node in the viewer, and kept from asking for anything by
the page's content security policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn import __version__
from xplearn.experiment.observer import Observer, Silent
from xplearn.files import replacing
from xplearn.report.export import write_figures, write_sheets
from xplearn.report.figure import Figure, Sheet
from xplearn.report.page.again import again, reported
from xplearn.report.page.document import Heading, document
from xplearn.report.page.grid import grid
from xplearn.report.page.learned import learning, spent, stages
from xplearn.report.page.markup import Part
from xplearn.report.page.material import Material, gather
from xplearn.report.page.overview import overview, summary
from xplearn.report.page.payload import Limits, Payload, build_payload
from xplearn.report.page.places import hints
from xplearn.report.page.standings import standings

if TYPE_CHECKING:
    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run
    from xplearn.reported import Reported

__all__ = ["Limits", "Source", "write"]

NAME = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a report tells of."""

    runs: Sequence[Run]
    cross: Cross | None = None
    place: Path | None = None
    """Folder of the cross."""
    reported: Sequence[Reported] = ()
    """Figures of papers, shown apart."""
    unread: Sequence[tuple[str, str]] = field(default_factory=tuple)
    """Folders that could not be read, and why."""


def write(
    source: Source,
    folder: Path,
    *,
    limits: Limits | None = None,
    figures: Sequence[str] = ("svg",),
    tables: Sequence[str] = ("md", "csv", "tex"),
    observer: Observer | None = None,
) -> Path:
    """Write ``report.html``, and its figures and tables below ``figures/`` and ``tables/``.

    Args:
        source: runs, finished or not, and their cross.
        folder: where to; what is there under the same names is replaced.
        limits: how much of the episodes the page holds.
        figures: formats, ``svg`` or ``png``; none for no files.
        tables: formats, ``md``, ``csv`` or ``tex``.
        observer: is told how far it is.

    Returns:
        The page.

    Raises:
        RecordError: the one run, or all of several, are damaged.
        XplearnError: PNG is asked for and what draws it is not installed.
    """
    watch = observer or Silent()
    watch.phase_start("tables and figures", 1)
    material = gather(source.runs, source.cross, source.place, source.reported, source.unread)
    parts = _parts(material, folder)
    pieces = [piece for part in parts for piece in part.section.pieces]
    write_figures([piece for piece in pieces if isinstance(piece, Figure)], folder / "figures", figures)
    write_sheets([piece for piece in pieces if isinstance(piece, Sheet)], folder / "tables", tables)
    watch.advance()
    watch.phase_end()
    called = list(hints(material.runs, material.cross).values())
    payload = build_payload(list(material.runs.values()), list(material.runs), limits or Limits(), watch, hints=called)
    with replacing(folder / NAME) as file:
        file.write(document(_heading(material), parts, payload, _held(payload)).encode())
    return folder / NAME


def _parts(material: Material, folder: Path) -> list[Part]:
    """The sections, in the order they are read."""
    return [
        Part(section=grid(material)),
        *(Part(section=section) for section in standings(material)),
        Part(section=stages(material)),
        Part(section=learning(material)),
        Part(section=spent(material)),
        Part(section=overview(material)),
        Part(section=reported(material), label="Papers"),
        again(material, folder),
    ]


def _heading(material: Material) -> Heading:
    names = list(material.runs)
    if material.cross is not None:
        title = f"The cross {material.cross.name}"
    else:
        title = f"The run {names[0]}" if len(names) == 1 else f"{len(names)} runs"
    return Heading(
        title=title,
        subtitle=summary(material),
        footer=f"Made by xplearn {__version__}. This file holds everything that it shows and asks for nothing from elsewhere.",
    )


def _held(payload: Payload) -> str:
    """Which episodes the page has, and how to have more."""
    if not payload.played:
        return "No episode was played yet."
    if payload.held == payload.played:
        return f"All {payload.played:,} episodes, step by step."
    parts = [f"{payload.held:,} of {payload.played:,} episodes, step by step."]
    if left := payload.played - payload.held - payload.lost:
        parts.append(
            f"Those of the first and the last evaluation came first, then an even sample of training; {left:,} are not in this file. To "
            "have more, make it anew with more --megabytes or --episodes."
        )
    if payload.lost:
        why = f": {payload.damage}" if payload.damage else "."
        parts.append(f"Of {payload.lost:,} the record has the scores but not the steps{why}")
    return " ".join(parts)
