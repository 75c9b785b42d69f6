"""The grid of a cross: every cell, run or not, and why not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xplearn.report import figures
from xplearn.report.contenders import BETWEEN, SEED
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
    size = " × ".join(f"{axis} ({len(labels)})" for axis, labels in cross.axes.items())
    sound = sum(cell.state != "unsound" for cell in cross.cells)
    lead = (
        f"{sound} of {len(cross.cells)} cells, {size}, fit together. A score is the last evaluation's, with the bank shown where there is "
        "one; a cell tells its name, and why it has no score, when it is pointed at."
    )
    drawn: list[Piece | None] = [figures.grid(cross, scores(material), column=cross.column, averaged=SEED), _open(cross)]
    return Section(
        name="cross", title="The cross", lead=lead, pieces=[piece for piece in drawn if piece is not None], aside=["open-cells-table"]
    )


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
        (state, reason, len(ids), "; ".join(_briefly(cross, ids)))
        for (state, reason), ids in sorted(alike.items(), key=lambda found: OPEN.index(found[0][0]))
    ]
    if not rows:
        return None
    return Sheet(
        name="open-cells-table",
        title="Cells without a score",
        caption=(
            "Unsound cells name parts that do not fit together; failed ones began and stopped; waiting ones were not reached. Cells are "
            f"named without their {cross.column} where the same is so in each."
        ),
        columns=("state", "reason", "cells", "which"),
        rows=rows,
    )


def _briefly(cross: Cross, ids: Sequence[str]) -> list[str]:
    """Names of cells; one for all that differ in the column only, where those are all there are."""
    every = _by_row(cross, [cell.id for cell in cross.cells])
    return [
        name
        for row, cells in _by_row(cross, ids).items()
        for name in ([BETWEEN.join(row)] if row and len(every[row]) > 1 and len(cells) == len(every[row]) else cells)
    ]


def _by_row(cross: Cross, ids: Collection[str]) -> dict[tuple[str, ...], list[str]]:
    """Ids by the labels of all axes but the column."""
    wanted = set(ids)
    found: dict[tuple[str, ...], list[str]] = {}
    for cell in cross.cells:
        if cell.id in wanted:
            row = tuple(label for axis, label in cell.axes.items() if axis != cross.column)
            found.setdefault(row, []).append(cell.id)
    return found
