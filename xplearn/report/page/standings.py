"""Who stands where: a section for each leaderboard, and what may not stand in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xplearn.report import figures, sheets
from xplearn.report.choices import effects, unmatched
from xplearn.report.figure import Piece, Section, Sheet
from xplearn.report.page.facts import facts, words
from xplearn.report.page.material import Material
from xplearn.report.slugs import ALL, slugs

if TYPE_CHECKING:
    from xplearn.metrics.along import Effects
    from xplearn.metrics.board import Board


def standings(material: Material) -> Iterator[Section]:
    """The board across all others, each of those, then the runs that have no place in any; the first says what names say."""
    named = list(words([standing for board in material.boards for standing in board.standings]))
    for number, section in enumerate(_boards(material)):
        yield section if number else replace(section, facts=[*section.facts, *named])
    if material.refused:
        yield _refused(material)


def _boards(material: Material) -> Iterator[Section]:
    if material.everywhere is not None:
        yield _everywhere(material.everywhere, material.boards, effects(material.everywhere, material.cross))
    several = len(material.boards) > 1
    for slug, board in zip(slugs([board.title for board in material.boards]), material.boards, strict=True):
        suffix = f"-{slug}" if several else ""
        changed = effects(board, material.cross)
        main, arms, rest = _main(board, changed, suffix), _arms(board, suffix), _rest(board, changed, suffix)
        table = sheets.leaderboard_sheet(board, name=f"leaderboard-table{suffix}")
        if several:
            yield replace(_section(board, changed, main, [*arms, table, *rest]), name=f"board{suffix}", title=board.title)
        else:
            yield _section(board, changed, [*main, table, *arms], rest)


def _everywhere(board: Board, boards: Sequence[Board], changed: Effects) -> Section:
    """Who wins where comes first, then what a board has."""
    suffix = f"-{ALL}"
    main = [*_main(board, changed, suffix), sheets.contest_sheet(board, boards), *_arms(board, suffix)]
    rest = [sheets.leaderboard_sheet(board, name=f"leaderboard-table{suffix}"), *_rest(board, changed, suffix)]
    return replace(_section(board, changed, main, rest), name=f"board{suffix}", title="All environments")


def _section(board: Board, changed: Effects, main: Iterable[Piece | None], rest: Iterable[Piece | None]) -> Section:
    shown, aside = ([piece for piece in of if piece is not None] for of in (main, rest))
    return Section(
        name="board",
        title="Leaderboard",
        lead=_lead(board, changed),
        facts=list(facts(board)),
        pieces=[*shown, *aside],
        aside=[piece.name for piece in aside],
    )


def _main(board: Board, changed: Effects, suffix: str) -> list[Piece | None]:
    """What everyone should see."""
    return [
        figures.leaderboard(board, name=f"leaderboard{suffix}"),
        figures.forest(board, "base", name=f"forest-base{suffix}"),
        figures.axes(board, changed, name=f"axes{suffix}"),
    ]


def _arms(board: Board, suffix: str) -> list[Piece | None]:
    """What the bank adds, and what stays without it."""
    return [figures.forest(board, "plain", name=f"forest-plain{suffix}"), figures.retention([board], name=f"retention{suffix}")]


def _rest(board: Board, changed: Effects, suffix: str) -> list[Piece | None]:
    return [
        figures.forest(board, "best", name=f"forest-best{suffix}"),
        figures.profiles(board, name=f"profiles{suffix}"),
        sheets.differences_sheet(board, name=f"differences-table{suffix}"),
        sheets.axes_sheet(board, changed, name=f"axes-table{suffix}"),
    ]


def _lead(board: Board, changed: Effects) -> str:
    """The panel, and what intervals are over."""
    panel = ", ".join(f"{tasks} task{'' if tasks == 1 else 's'} of {domain}" for domain, tasks in board.panel.items())
    parts = [f"{panel}; {100 * board.confidence:g} % intervals over {board.over}."]
    if board.apart:
        parts.append(f"Apart from others of the same environments: {board.apart}.")
    if not changed.found and changed.unmatched:
        parts.append(unmatched(changed))
    return " ".join(parts)


def _refused(material: Material) -> Section:
    sheet = Sheet(name="refused-table", title="Without a place", caption="", columns=("run", "reason"), rows=material.refused)
    lead = (
        "Runs without a place on a board, or with one of their own, and why: figures of other tasks, other versions of an environment or "
        "another encoder do not stand in one table."
    )
    return Section(name="refused", title="Apart", lead=lead, pieces=[sheet])
