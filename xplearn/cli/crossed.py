"""A cross on a terminal: its grid of scores, and why cells are missing from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xplearn.metrics.bootstrap import Interval
from xplearn.metrics.digits import tenths
from xplearn.metrics.table import POOLED
from xplearn.report.columns import Column, draw, pack
from xplearn.report.contenders import BETWEEN
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.record.cross import Cell, Cross
    from xplearn.record.header import Header

ARROW = " → "
"""Between the score of a cell before learning and at the end."""


def render(cross: Cross, folder: Path, console: Console) -> None:
    """Print the score of every cell, or the number of the reason why it has none; below them the reasons, each once."""
    column = cross.column
    reasons = why(cross)
    texts: dict[tuple[str, str], str] = {}
    for cell in cross.cells:
        texts[_row(cell, column), cell.axes[column]] = _text(cell, folder, reasons)
    rows = list(dict.fromkeys(row for row, _ in texts))
    axes = BETWEEN.join(axis for axis in cross.axes if axis != column) or column
    leads = [Column(printable(axes), tuple(map(printable, rows)))]
    columns = [Column(printable(label), tuple(texts.get((row, label), "") for row in rows)) for label in cross.axes[column]]
    for piece in pack(columns, leads, console.width):
        console.print(draw([*leads, *piece], [0] * len(rows)))
    console.print(
        "score 0 to 100 after the last stage, with the bank where it is shown, and its bootstrap interval over tasks", style="dim"
    )
    for line in footnotes(cross):
        console.print(line, markup=False, soft_wrap=True)


def why(cross: Cross) -> list[str]:
    """Why cells have no score, each reason once."""
    return list(dict.fromkeys(cell.reason for cell in cross.cells if excused(cell)))


def footnotes(cross: Cross) -> list[str]:
    """The reasons by number, with how many cells they are those of."""
    numbers = Counter(cell.reason for cell in cross.cells if excused(cell))
    return [printable(f"({number}) {numbered(numbers[reason])}: {reason}") for number, reason in enumerate(why(cross), start=1)]


def excused(cell: Cell) -> bool:
    """Whether a cell has a reason in place of a score."""
    return cell.state in ("unsound", "failed")


def counted(cross: Cross) -> str:
    """How many cells there are in each state, e.g. ``36 finished, 4 unsound``."""
    numbers: Counter[str] = Counter(cell.reason if cell.reason == "interrupted" else cell.state for cell in cross.cells)
    order = ("finished", "same", "unsound", "failed", "running", "interrupted", "waiting")
    words = {"same": "the same as another", "running": "under way"}
    return f"{numbered(len(cross.cells))}: " + ", ".join(f"{numbers[state]} {words.get(state, state)}" for state in order if numbers[state])


def numbered(cells: int) -> str:
    """So many cells, e.g. ``1 cell``."""
    return f"{cells} cell{'' if cells == 1 else 's'}"


def standing(cell: Cell, reasons: Sequence[str]) -> str:
    """How a cell stands: its state, and the number of its reason among all (``why``) or the cell that it is the same as."""
    if excused(cell):
        return f"{cell.state} ({reasons.index(cell.reason) + 1})"
    return f"the same as {cell.reason}" if cell.state == "same" else cell.reason or cell.state


def told(cell: Cell, run: Path) -> str:
    """What became of a cell: its score before learning without experience, and at the end; or why it failed."""
    from xplearn.errors import XplearnError
    from xplearn.record.header import read_header

    if cell.state == "failed":
        return f"failed: {cell.reason}"
    try:
        rows = _rows(read_header(run / "run.json"))
    except XplearnError as error:
        return str(error)
    base = next((row for row in rows if row["point"] == 0 and row["arm"] == "plain"), None)
    before = f"{tenths(base['score']['mean'])}{ARROW}" if base else ""
    return f"{before}{tenths(rows[-1]['score']['mean'])}" if rows else ""


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as a person would say it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _row(cell: Cell, column: str) -> str:
    return BETWEEN.join(label for axis, label in cell.axes.items() if axis != column)


def _text(cell: Cell, folder: Path, reasons: Sequence[str]) -> str:
    """A cell of the table."""
    score = _score(folder / cell.run) if cell.run and not excused(cell) else None
    if score is None:
        return cell.state if cell.state == "same" else standing(cell, reasons)
    return ("= " if cell.state == "same" else "") + score.text()


def _score(run: Path) -> Interval | None:
    """The final score of a finished run."""
    from xplearn.errors import XplearnError
    from xplearn.record.header import read_header

    try:
        rows = _rows(read_header(run / "run.json"))
        return Interval(**rows[-1]["score"]) if rows else None
    except (XplearnError, KeyError, TypeError):
        return None


def _rows(header: Header) -> Sequence[Mapping[str, Any]]:
    """The rows of a finished run's table for all its domains together: in the order of the points, plain before experience."""
    domain = POOLED if len(header.panels) > 1 else next(iter(header.panels), "")
    return [row for row in header.results if row.get("domain") == domain]
