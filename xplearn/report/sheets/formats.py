"""A sheet as Markdown, CSV, LaTeX or HTML; every cell is text there, whatever it holds."""

from __future__ import annotations

from xplearn.report.figure import Sheet


def to_markdown(sheet: Sheet) -> str:
    """A heading, a table as GitHub's Markdown has it, and the caption; marked rows are bold."""
    return ""


def to_csv(sheet: Sheet) -> str:
    """RFC 4180 with a header line, numbers in full; an interval has three columns. Text that a spreadsheet would run is quoted by ``'``."""
    return ""


def to_latex(sheet: Sheet) -> str:
    r"""A ``table`` for ``\usepackage{booktabs}``; marked rows are bold."""
    return ""


def sheet_html(sheet: Sheet) -> str:
    """A ``<div class="k-sheet">`` that scrolls, holding a ``<table>`` with a caption.

    Headers have a scope; cells that sort as numbers have them in ``data-sort``, the headers of such columns have ``data-number``; marked
    rows have the class ``k-marked``.
    """
    return ""
