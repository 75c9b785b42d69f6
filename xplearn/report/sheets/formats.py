"""A sheet as Markdown, CSV or HTML; every cell is text there, whatever it holds."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from html import escape

from xplearn.metrics.bootstrap import Interval
from xplearn.report.figure import Cell, Sheet
from xplearn.report.sheets.cells import numeric, shown, stands_out, value, words

_MARKDOWN = re.compile(r"([\\`*_\[\]<>#!|~$&@]|(?<=:)/(?=/)|(?<=www)\.)")
_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NEGATIVE = re.compile(r"-\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
"""What begins as a formula may, and is none."""


def to_markdown(sheet: Sheet) -> str:
    """A heading, a table as GitHub's Markdown has it, and the caption; marked rows and strong cells are bold."""
    head = " | ".join(_markdown(column) for column in sheet.columns)
    rule = " | ".join("---:" if numeric(sheet, at) else "---" for at in range(len(sheet.columns)))
    lines = [f"### {_markdown(sheet.title)}", "", f"| {head} |", f"| {rule} |"]
    for row in range(len(sheet.rows)):
        cells = [_figure(sheet, row, at) or _markdown(shown(sheet, row, at)) for at in range(len(sheet.columns))]
        lines.append(f"| {' | '.join(f'**{cell}**' if cell and stands_out(sheet, row, at) else cell for at, cell in enumerate(cells))} |")
    return "\n".join([*lines, "", *([_markdown(sheet.caption), ""] if sheet.caption else [])])


def to_csv(sheet: Sheet) -> str:
    """RFC 4180 with a header line and numbers in full; an interval has three columns, the last two its bounds.

    Text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    wide = [any(isinstance(row[at], Interval) for row in sheet.rows) for at in range(len(sheet.columns))]
    names = [[name, f"{name} low", f"{name} high"] if three else [name] for name, three in zip(sheet.columns, wide, strict=True)]
    writer.writerow([_harmless(name) for group in names for name in group])
    for row in sheet.rows:
        writer.writerow([cell for found, three in zip(row, wide, strict=True) for cell in _fields(found, three=three)])
    return file.getvalue()


def sheet_html(sheet: Sheet) -> str:
    """A ``<div class="k-sheet">`` that scrolls, holding a ``<table>`` with a caption.

    Headers have a scope; cells that sort as numbers have them in ``data-sort``, the headers of such columns have ``data-number``. The first
    column of words names the rows, and its header has the class ``k-lead``; marked rows have ``k-marked``, strong cells ``k-strong-cell``.
    """
    numbers = [numeric(sheet, at) for at in range(len(sheet.columns))]
    lead = numbers.index(False) if False in numbers else -1
    looks = [" data-number" if number else ' class="k-lead"' if at == lead else "" for at, number in enumerate(numbers)]
    heads = "".join(f'<th scope="col"{look}>{escape(words(name))}</th>' for name, look in zip(sheet.columns, looks, strict=True))
    starts = ['<tr class="k-marked">' if row in sheet.marked else "<tr>" for row in range(len(sheet.rows))]
    rows = "\n".join(f"{start}{_row(sheet, row, numbers, lead)}</tr>" for row, start in enumerate(starts))
    caption = f"<caption>{escape(words(sheet.caption))}</caption>" if sheet.caption else ""
    label = escape(words(sheet.title))
    return (
        f'<div class="k-sheet" tabindex="0" role="region" aria-label="{label}"><table>{caption}\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(sheet: Sheet, row: int, numbers: list[bool], lead: int) -> str:
    found = []
    for at, number in enumerate(numbers):
        text, sorted_by = escape(shown(sheet, row, at)), value(sheet.rows[row][at])
        sort = "" if sorted_by is None else f' data-sort="{sorted_by!r}"'
        classes = " ".join(["k-number"] * number + ["k-strong-cell"] * ((row, at) in sheet.strong))
        look = f' class="{classes}"' if classes else ""
        found.append(f'<th scope="row">{text}</th>' if at == lead else f"<td{look}{sort}>{text}</td>")
    return "".join(found)


def _figure(sheet: Sheet, row: int, column: int) -> str:
    """A number or an interval, which needs no escape; empty for text."""
    return "" if isinstance(sheet.rows[row][column], str) else shown(sheet, row, column)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", words(text))


def _fields(cell: Cell, *, three: bool) -> Iterator[str]:
    if isinstance(cell, Interval):
        yield from ("" if bound is None else repr(bound) for bound in (cell.mean, cell.low, cell.high))
        return
    yield _harmless(cell) if isinstance(cell, str) else "" if value(cell) is None else repr(cell)
    yield from ["", ""] if three else []


def _harmless(text: str) -> str:
    said = words(text)
    return f"'{said}" if said.startswith(_RUN_BY_SPREADSHEETS) and not _NEGATIVE.fullmatch(said) else said
