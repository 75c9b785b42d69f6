"""Leaderboards on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xplearn.report.boards import across, boards
from xplearn.report.choices import effects
from xplearn.report.columns import Column, draw, pack
from xplearn.report.printable import printable
from xplearn.report.sheets.axes import axes_sheet
from xplearn.report.sheets.boards import leaderboard_sheet
from xplearn.report.sheets.cells import shown

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run
    from xplearn.report.figure import Sheet


def render(runs: Sequence[Run], cross: Cross, console: Console) -> None:
    """Print the runs of a cross as leaderboards, one for each panel, what each choice changes, and which run had no place and why."""
    found, refused = boards(runs, cross)
    everywhere = across(found)
    for sheet in filter(None, map(leaderboard_sheet, found)):
        _draw(sheet, console, leads=(1,))
    for board in found if everywhere is None else [everywhere]:
        changed = axes_sheet(board, effects(board, cross))
        if changed is not None:
            _draw(changed, console, leads=(0, 1))
    for one in refused:
        console.print(printable(f"apart: {one.run}: {one.reason}"), markup=False, soft_wrap=True)


def _draw(sheet: Sheet, console: Console, *, leads: Sequence[int]) -> None:
    """In as many tables as the width asks for, the columns ``leads`` in each."""
    lines = range(len(sheet.rows))
    columns = [Column(name, tuple(shown(sheet, row, at) for row in lines)) for at, name in enumerate(sheet.columns)]
    named = [columns[at] for at in leads]
    console.print(printable(f"\n{sheet.title}"), markup=False, style="bold")
    for piece in pack(columns[leads[-1] + 1 :], named, console.width):
        console.print(draw([*named, *piece], [0] * len(sheet.rows)))
    console.print(printable(sheet.caption), markup=False, style="dim")
