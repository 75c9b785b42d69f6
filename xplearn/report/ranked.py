"""Leaderboards on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xplearn.report.boards import across, boards
from xplearn.report.choices import effects
from xplearn.report.columns import Column, fitted, left_out, tables
from xplearn.report.printable import printable
from xplearn.report.sheets.axes import axes_sheet
from xplearn.report.sheets.cells import shown as cell
from xplearn.report.sheets.leaderboard import leaderboard_sheet

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.metrics.board import Board
    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run
    from xplearn.report.figure import Sheet


def render(runs: Sequence[Run], cross: Cross, console: Console) -> None:
    """Print the runs of a cross as leaderboards, one for each panel, what each choice changes, and which run had no place and why."""
    found, refused = boards(runs, cross)
    everywhere = across(found)
    for board in found:
        _leaderboard(board, console)
    for board in found if everywhere is None else [everywhere]:
        changed = axes_sheet(board, effects(board, cross))
        if changed is not None:
            _draw(changed, console, leads=(0, 1))
    for one in refused:
        console.print(printable(f"apart: {one.run}: {one.reason}"), markup=False, soft_wrap=True)


def _leaderboard(board: Board, console: Console) -> None:
    """Without what a narrow terminal can do without."""
    sheet = leaderboard_sheet(board, without=("#",))
    if sheet is not None:
        lead, *others = _columns(sheet)
        shown, _ = fitted(others, [lead], console.width, sheet.spare)
        left = [column.name for column in others if column not in shown]
        _draw(leaderboard_sheet(board, without=("#", *left)) or sheet, console, leads=(0,), also=left_out(others, shown))


def _draw(sheet: Sheet, console: Console, *, leads: Sequence[int], also: str = "") -> None:
    """In as many tables as the width asks for, the columns ``leads`` in each."""
    columns = _columns(sheet)
    console.print(printable(f"\n{sheet.title}"), markup=False, style="bold")
    for piece in tables(columns[leads[-1] + 1 :], [columns[at] for at in leads], [0] * len(sheet.rows), console.width):
        console.print(piece)
    console.print(printable(f"{sheet.caption}{also and f' There was {also}.'}"), markup=False, style="dim")


def _columns(sheet: Sheet) -> list[Column]:
    lines = range(len(sheet.rows))
    return [Column(name, tuple(cell(sheet, row, at) for row in lines)) for at, name in enumerate(sheet.columns)]
