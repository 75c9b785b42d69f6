"""The grid of a cross: every cell, run or not, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from xplearn.report import figures
from xplearn.report.figure import Piece, Section, Sheet
from xplearn.report.page.material import Material

if TYPE_CHECKING:
    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run

OPEN = ("unsound", "failed", "waiting")
"""States of a cell that has no score."""


def grid(material: Material) -> Section:
    """The cells of a cross; nothing where the runs belong to none."""
    cross = material.cross
    if cross is None:
        return Section(name="cross", title="The cross", lead="", pieces=[])
    states = Counter(cell.state for cell in cross.cells)
    counted = ", ".join(f"{count} {state}" for state, count in states.items())
    axes = "; ".join(f"{axis}: {', '.join(labels)}" for axis, labels in cross.axes.items())
    lead = f"{len(cross.cells)} cells: {counted}. A score is the last evaluation's, with the bank shown where there is one. {axes}."
    drawn: list[Piece | None] = [figures.grid(cross, scores(material)), _open(cross)]
    return Section(name="cross", title="The cross", lead=lead, pieces=[piece for piece in drawn if piece is not None])


def scores(material: Material) -> Mapping[str, float]:
    """Final score, 0 to 100, by id of the cell."""
    by_folder = {run.path.name: run for run in material.runs.values()}
    found = {}
    for cell in material.cross.cells if material.cross else ():
        run = by_folder.get(cell.run)
        score = _last(run) if run is not None else None
        if score is not None:
            found[cell.id] = score
    return found


def _last(run: Run) -> float | None:
    for matrix in (run.matrix("experience"), run.matrix("plain")):
        if matrix.reached:
            return float(np.nanmean(matrix.values[matrix.reached]))
    return None


def _open(cross: Cross) -> Sheet | None:
    alike: dict[tuple[str, str], list[str]] = {}
    for cell in cross.cells:
        if cell.state in OPEN:
            alike.setdefault((cell.state, cell.reason), []).append(cell.id)
    rows = [
        (state, reason, len(ids), "; ".join(ids))
        for (state, reason), ids in sorted(alike.items(), key=lambda found: OPEN.index(found[0][0]))
    ]
    if not rows:
        return None
    return Sheet(
        name="open-cells-table",
        title="Cells without a score",
        caption="Unsound cells name parts that do not fit together; failed ones began and stopped; waiting ones were not reached.",
        columns=("state", "reason", "cells", "which"),
        rows=rows,
    )
