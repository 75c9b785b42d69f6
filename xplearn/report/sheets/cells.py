"""A cell as words and as figures."""

from __future__ import annotations

import math

from xplearn.metrics.bootstrap import Interval
from xplearn.report.figure import Cell, Sheet
from xplearn.report.printable import printable

NOTHING = "–"


def shown(sheet: Sheet, row: int, column: int) -> str:
    """A cell as people read it: numbers with one decimal, intervals with their bounds, differences with their sign."""
    cell, signed = sheet.rows[row][column], column in sheet.signed
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return NOTHING
    if isinstance(cell, Interval):
        return cell.text(signed=signed)
    if isinstance(cell, float):
        return f"{cell:+.1f}" if signed else f"{cell:,.1f}"
    if isinstance(cell, int):
        return f"{cell:+,}" if signed else f"{cell:,}"
    return words(cell)


def words(text: str) -> str:
    """Text on one line, without control characters."""
    return " ".join(printable(text).split())


def value(cell: Cell) -> float | None:
    """What a cell is sorted by; None where that is its text."""
    if isinstance(cell, Interval):
        return cell.mean
    return float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else None


def numeric(sheet: Sheet, column: int) -> bool:
    """Whether a column holds numbers only."""
    cells = [row[column] for row in sheet.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)
