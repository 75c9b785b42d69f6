"""Leaderboards on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xplearn.report.boards import boards
from xplearn.report.columns import Column, draw, pack
from xplearn.report.printable import printable
from xplearn.report.sheets.boards import leaderboard_sheet
from xplearn.report.sheets.cells import shown

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run
    from xplearn.report.figure import Sheet


def render(runs: Sequence[Run], cross: Cross, console: Console) -> None:
    """Print the runs of a cross as leaderboards, one for each panel, and which run had no place in them and why."""
    found, refused = boards(runs, cross)
    for sheet in filter(None, map(leaderboard_sheet, found)):
        _draw(sheet, console)
    for one in refused:
        console.print(printable(f"apart: {one.run}: {one.reason}"), markup=False, soft_wrap=True)


def _draw(sheet: Sheet, console: Console) -> None:
    lines = range(len(sheet.rows))
    columns = [Column(name, tuple(shown(sheet, row, at) for row in lines)) for at, name in enumerate(sheet.columns)]
    leads = [columns[1]]
    console.print(printable(f"\n{sheet.title}"), markup=False, style="bold")
    for piece in pack(columns[2:], leads, console.width):
        console.print(draw([*leads, *piece], [0] * len(sheet.rows)))
    console.print(printable(sheet.caption), markup=False, style="dim")
