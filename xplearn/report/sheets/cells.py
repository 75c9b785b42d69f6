"""A cell as words and as figures."""

from __future__ import annotations

import math
import re

from xplearn.metrics.bootstrap import Interval
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Cell, Sheet
from xplearn.report.printable import printable

NOTHING = "–"
LONGEST = 4000
"""Characters of a cell; a longer one keeps its two ends. Spreadsheets take 32,767, and Python's csv 131,072."""
_FIGURE = re.compile(r"<? ?([+-]?\d{1,15}(?:\.\d{1,15})?)(?: of \d+)?")


def shown(sheet: Sheet, row: int, column: int) -> str:
    """A cell as people read it: numbers with one decimal, intervals with their bounds, differences with their sign."""
    cell, signed = sheet.rows[row][column], column in sheet.signed
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return NOTHING
    if isinstance(cell, Interval):
        return cell.text(signed=signed)
    if isinstance(cell, float):
        return tenths(cell, signed=signed, grouped=not signed)
    if isinstance(cell, int):
        return f"{cell:+,}" if signed else f"{cell:,}"
    return words(cell)


def words(text: str) -> str:
    """Text on one line, without control characters, and not endless."""
    said = " ".join(printable(text).split())
    return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} … {said[3 - LONGEST // 2 :]}"


def value(cell: Cell) -> float | None:
    """What a cell is sorted by; None where that is its text."""
    if isinstance(cell, Interval):
        return cell.mean
    if isinstance(cell, str):
        found = _FIGURE.fullmatch(cell)
        return float(found[1]) if found else None
    return float(cell) if cell is not None and math.isfinite(cell) else None


def numeric(sheet: Sheet, column: int) -> bool:
    """Whether a column holds numbers only, such as ``3 of 40`` and ``< 0.001`` too."""
    cells = [row[column] for row in sheet.rows if row[column] is not None]
    return bool(cells) and all(not isinstance(cell, str) or value(cell) is not None for cell in cells)


def stands_out(sheet: Sheet, row: int, column: int) -> bool:
    """Whether a cell, or its whole row, is marked."""
    return row in sheet.marked or (row, column) in sheet.strong
