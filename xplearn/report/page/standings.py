"""Who stands where: a section for each leaderboard, and what may not stand in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from xplearn.report import figures, sheets
from xplearn.report.figure import Piece, Section, Sheet
from xplearn.report.page.material import Material

if TYPE_CHECKING:
    from xplearn.metrics.board import Board


def standings(material: Material) -> Iterator[Section]:
    """Each board, then the runs that have no place in any."""
    several = len(material.boards) > 1
    for number, board in enumerate(material.boards, start=1):
        name = f"board-{number}" if several else "board"
        title = board.title if several else "Leaderboard"
        yield Section(name=name, title=title, lead=_lead(board), pieces=_pieces(board, f"-{number}" if several else ""))
    if material.refused:
        yield _refused(material)


def _pieces(board: Board, suffix: str) -> list[Piece]:
    drawn: list[Piece | None] = [
        figures.leaderboard(board, name=f"leaderboard{suffix}"),
        figures.profiles(board, name=f"profiles{suffix}"),
        sheets.leaderboard_sheet(board, name=f"leaderboard-table{suffix}"),
        *(figures.forest(board, versus, name=f"forest-{versus}{suffix}") for versus in get_args(figures.Versus)),
        figures.retention([board], name=f"retention{suffix}"),
        sheets.differences_sheet(board, name=f"differences-table{suffix}"),
    ]
    return [piece for piece in drawn if piece is not None]


def _lead(board: Board) -> str:
    panel = ", ".join(f"{tasks} tasks of {domain}" for domain, tasks in board.panel.items())
    parts = [f"Evaluated on {panel}; intervals hold {100 * board.confidence:g} % and are over tasks and seeds."]
    if board.detectable is not None:
        parts.append(f"A paired difference below {board.detectable:.1f} points is more likely missed than found on this panel.")
    worse = [(found.contender.name, found.versus_base) for found in board.standings if found.versus_base and found.versus_base.worse]
    if worse:
        name, most = max(worse, key=lambda pair: pair[1].worse)
        parts.append(
            f"Negative transfer: {len(worse)} of {len(board.standings)} got worse than Base on some task, {name} on the most "
            f"({most.worse} of {most.tasks})."
        )
    return " ".join(parts)


def _refused(material: Material) -> Section:
    sheet = Sheet(name="refused-table", title="Without a place", caption="Runs, and why.", columns=("run", "reason"), rows=material.refused)
    lead = "Figures of other tasks, other versions of an environment or another encoder do not stand in one table."
    return Section(name="refused", title="Apart", lead=lead, pieces=[sheet])
