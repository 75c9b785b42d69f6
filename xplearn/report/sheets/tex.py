"""A sheet as LaTeX that fits its page: long texts wrap, and what is still too wide or too high is scaled down."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from xplearn.metrics.bootstrap import Interval
from xplearn.report.figure import Sheet
from xplearn.report.sheets.cells import numeric, shown, stands_out, words
from xplearn.report.sheets.latex import latex

PACKAGES = (r"\usepackage[T1]{fontenc}", r"\usepackage{booktabs}", r"\usepackage{graphicx}")
"""What a document needs; all come with every LaTeX."""

ACROSS = 100
"""Characters that all columns together should take, where texts can wrap: more are small to read."""
LONG = 40
"""Characters of a text that never wraps."""
_GAP, _EM, _SMALL = 3, 0.5, 0.7
"""Characters between columns, the width of one in em, and how much smaller bounds are set."""
_HIGHEST = 0.75
"""Of a page, for a table below its caption."""
_WORD = 16
"""Characters of a word that stays whole."""
_MARKS = r"./_:=,;@+)\]}-"
_PIECES = re.compile(rf"[^{_MARKS}]{{1,24}}[{_MARKS}]*|[{_MARKS}]+")
"""Of a word, between which it may be broken: after marks, and in what is long without any."""


def to_latex(sheet: Sheet) -> str:
    r"""A ``table`` no wider than a line and no higher than a page; marked rows and strong cells are bold.

    A comment at its head names the ``PACKAGES`` that it needs.
    """
    widths = _widths(sheet)
    lines = [
        f"% needs {' '.join(PACKAGES)}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(words(sheet.title))}. {latex(words(sheet.caption))}}}",
        rf"\label{{tab:{sheet.name}}}",
        rf"\resizebox*{{!}}{{\ifdim\totalheight>{_HIGHEST}\textheight {_HIGHEST}\textheight\else\totalheight\fi}}{{%",
        r"\resizebox{\ifdim\width>\linewidth \linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{''.join(_kind(sheet, at, width) for at, width in enumerate(widths))}}}",
        r"\toprule",
        _line([_head(sheet, at, width) for at, width in enumerate(widths)]),
        r"\midrule",
        *(_line([_cell(sheet, row, at, width) for at, width in enumerate(widths)]) for row in range(len(sheet.rows))),
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}}", r"\end{table}", ""])


def _widths(sheet: Sheet) -> list[int]:
    """Characters of each column that wraps, 0 of the others: as many as the others leave, shared by how long its texts are."""
    natural = [_natural(sheet, at) for at in range(len(sheet.columns))]
    if sum(natural) + _GAP * len(natural) <= ACROSS:
        return [0] * len(natural)
    wraps = [size > LONG and not numeric(sheet, at) for at, size in enumerate(natural)]
    room = ACROSS - _GAP * len(natural) - sum(size for size, long in zip(natural, wraps, strict=True) if not long)
    wanted = [min(size, ACROSS) if long else 0 for size, long in zip(natural, wraps, strict=True)]
    shares = [room * size // max(1, sum(wanted)) for size in wanted]
    return [min(size, max(LONG, share)) if size else 0 for size, share in zip(wanted, shares, strict=True)]


def _natural(sheet: Sheet, column: int) -> int:
    """Characters of its longest cell; bounds count as what they are set in, and heads of numbers wrap."""
    cells = [len(shown(sheet, row, column)) * _scale(sheet, row, column) for row in range(len(sheet.rows))]
    return round(max([*cells, *map(len, _heads(sheet, column))]))


def _scale(sheet: Sheet, row: int, column: int) -> float:
    return (1 + 2 * _SMALL) / 3 if isinstance(sheet.rows[row][column], Interval) else 1.0


def _heads(sheet: Sheet, column: int) -> list[str]:
    """The name of a column in lines: above numbers no longer than those."""
    name = words(sheet.columns[column])
    if not numeric(sheet, column):
        return [name]
    longest = max(len(shown(sheet, row, column)) for row in range(len(sheet.rows)))
    return textwrap.wrap(name, max(longest, 8), break_long_words=False) or [name]


def _kind(sheet: Sheet, column: int, width: int) -> str:
    return f"p{{{_EM * width:g}em}}" if width else "r" if numeric(sheet, column) else "l"


def _head(sheet: Sheet, column: int, width: int) -> str:
    lines = _heads(sheet, column)
    if width:
        return _wrapping(lines[0])
    text = r" \\ ".join(map(latex, lines))
    return rf"\shortstack[r]{{{text}}}" if len(lines) > 1 else f"{{{text}}}"


def _cell(sheet: Sheet, row: int, column: int, width: int) -> str:
    text = _wrapping(shown(sheet, row, column)) if width else _text(sheet, row, column)
    return rf"\textbf{{{text}}}" if stands_out(sheet, row, column) else f"{{{text}}}" if not width else text


def _text(sheet: Sheet, row: int, column: int) -> str:
    """Numbers with a minus sign, bounds smaller than what they are of."""
    said = latex(shown(sheet, row, column))
    if isinstance(sheet.rows[row][column], str):
        return said
    mean, space, bounds = said.replace("-", "$-$").partition(" [")
    return rf"{mean} {{\scriptsize [{bounds}}}" if space else mean


def _wrapping(text: str) -> str:
    r"""Text in a column with a width."""
    pieces = (_PIECES.findall(word) if len(word) > _WORD else [word] for word in text.split())
    return r"\raggedright " + " ".join(r"\allowbreak{}".join(map(latex, of)) for of in pieces)


def _line(cells: Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \tabularnewline"
