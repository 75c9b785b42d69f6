"""Who stands where: a section for each leaderboard, and what may not stand in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xplearn.metrics.compare import harness
from xplearn.report import figures, sheets
from xplearn.report.choices import effects, unmatched
from xplearn.report.figure import Piece, Section, Sheet
from xplearn.report.page.material import Material

if TYPE_CHECKING:
    from xplearn.metrics.along import Effects
    from xplearn.metrics.board import Board, Standing


BASE = "Base is each configuration's own policy before learning, after its warm-up if it has one, without a bank."
HARNESS = "A name with +Harness is a policy to which its bank is shown; the same name without it is the same policy without its bank."


def standings(material: Material) -> Iterator[Section]:
    """The board across all others, each of those, then the runs that have no place in any; the first says what names say."""
    words = _words([standing for board in material.boards for standing in board.standings])
    for number, section in enumerate(_boards(material)):
        yield section if number else replace(section, lead=" ".join([section.lead, *words]))
    if material.refused:
        yield _refused(material)


def _words(standings: Sequence[Standing]) -> list[str]:
    """What a newcomer must know to read them."""
    compared = any(standing.versus_base is not None for standing in standings)
    both = any(standing.contender.name.endswith(harness("experience")) for standing in standings)
    return [BASE] * compared + [HARNESS] * both


def _boards(material: Material) -> Iterator[Section]:
    if material.everywhere is not None:
        yield _everywhere(material.everywhere, material.boards, effects(material.everywhere, material.cross))
    several = len(material.boards) > 1
    for number, board in enumerate(material.boards, start=1):
        suffix = f"-{number}" if several else ""
        name, title = f"board{suffix}", board.title if several else "Leaderboard"
        changed = effects(board, material.cross)
        main, arms, rest = _main(board, changed, suffix), _arms(board, suffix), _rest(board, changed, suffix)
        table = sheets.leaderboard_sheet(board, name=f"leaderboard-table{suffix}")
        yield _section(name, title, _lead(board, changed), *((main, [*arms, table, *rest]) if several else ([*main, table, *arms], rest)))


def _everywhere(board: Board, boards: Sequence[Board], changed: Effects) -> Section:
    """Who wins where comes first, then what a board has."""
    main = [*_main(board, changed, "-all"), sheets.contest_sheet(board, boards), *_arms(board, "-all")]
    rest = [sheets.leaderboard_sheet(board, name="leaderboard-table-all"), *_rest(board, changed, "-all")]
    return _section("board-all", "All environments", _lead(board, changed), main, rest)


def _section(name: str, title: str, lead: str, main: Iterable[Piece | None], rest: Iterable[Piece | None]) -> Section:
    shown, aside = ([piece for piece in of if piece is not None] for of in (main, rest))
    return Section(name=name, title=title, lead=lead, pieces=[*shown, *aside], aside=[piece.name for piece in aside])


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
    panel = ", ".join(f"{tasks} task{'' if tasks == 1 else 's'} of {domain}" for domain, tasks in board.panel.items())
    parts = [f"Evaluated on {panel}; intervals hold {100 * board.confidence:g} % and are over {board.over}."]
    if board.detectable is not None:
        parts.append(sheets.detectable(board))
    worse = [(found.contender.name, found.versus_base) for found in board.standings if found.versus_base and found.versus_base.worse]
    if worse:
        name, most = max(worse, key=lambda pair: pair[1].worse)
        parts.append(
            f"Negative transfer: {len(worse)} of {len(board.standings)} got worse than Base on some task, {name} on the most "
            f"({most.worse} of {most.tasks})."
        )
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
