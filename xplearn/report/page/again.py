"""The end of a page: what papers report, and how to do it all again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from xplearn.report import sheets
from xplearn.report.figure import Section, Sheet
from xplearn.report.page.markup import Listing, Part
from xplearn.report.page.material import Material


def reported(material: Material) -> Section:
    """Figures of papers, apart from ours."""
    sheet = sheets.reported_sheet(material.reported) if material.reported else None
    lead = (
        "Other policies, tasks, splits and versions than above: these figures may not be compared with ours. They are of the papers whose "
        "parts were run here; 'xplearn plugins --reported' lists all."
    )
    title = "Reported by papers, not measured here"
    return Section(name="reported", title=title, lead=lead if sheet else "", pieces=[sheet] if sheet else [])


def again(material: Material, folder: Path) -> Part:
    """Commands that make the runs and the page, and the files that they read."""
    rows = list(_commands(material, folder))
    lead = "Save the texts below under their names. The same command on the same versions gives the same figures, and goes on after a stop."
    sheet = Sheet(name="commands-table", title="Commands", caption="", columns=("makes", "command"), rows=rows)
    section = Section(name="again", title="Do it again", lead=lead if rows else "", pieces=[sheet] if rows else [])
    return Part(section=section, listings=list(_files(material)))


def _commands(material: Material, folder: Path) -> Iterator[tuple[str, str]]:
    if material.cross is not None:
        yield "the cross, with all its runs", f"xplearn cross {_file(material.cross.name)}"
    else:
        for name, run in material.runs.items():
            yield name, f"xplearn run {_file(run.path.name)}"
    places = [material.place] if material.place else [run.path for run in material.runs.values()]
    if not places:
        return
    usual = places[0] / "report" if len(places) == 1 else Path("report")
    to = [] if folder == usual else ["--to", str(folder)]
    yield "this page", shlex.join(["xplearn", "report", *map(str, places), *to])


def _files(material: Material) -> Iterator[Listing]:
    if material.cross is not None:
        yield _listing(material.cross.name, material.cross.given)
    else:
        for run in material.runs.values():
            yield _listing(run.path.name, run.header.config)


def _listing(name: str, given: Any) -> Listing:
    return Listing(title=f"{name}.yaml", text=yaml.safe_dump(given, sort_keys=False, allow_unicode=True, width=120))


def _file(name: str) -> str:
    return shlex.quote(f"{name}.yaml")
