"""What a board is about, at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xplearn.metrics.compare import harness
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Fact
from xplearn.report.verdict import winner

if TYPE_CHECKING:
    from xplearn.metrics.board import Board, Standing

BASE = Fact("Base", "before learning", "each configuration's own policy, after its warm-up if it has one, without a bank")
HARNESS = Fact("+Harness", "bank shown", "the same name without it: the same policy, its bank hidden")


def facts(board: Board) -> Iterator[Fact]:
    """Who is best, what can be found, and who got worse."""
    name, known = winner(board)
    if name:
        yield Fact("Best", name, known)
    if board.detectable is not None:
        found = "a true difference that one test finds four times in five; of other tasks, not of other seeds"
        yield Fact("Detectable", f"{tenths(board.detectable)} points", found)
    worse = [(found.contender.name, found.versus_base) for found in board.standings if found.versus_base and found.versus_base.worse]
    if worse:
        most, by = max(worse, key=lambda pair: pair[1].worse)
        told = f"fell below Base on some task; {most} on the most, {by.worse} of {by.tasks}"
        yield Fact("Negative transfer", f"{len(worse)} of {len(board.standings)}", told)


def words(standings: Sequence[Standing]) -> Iterator[Fact]:
    """What a newcomer must know to read their names."""
    if any(standing.versus_base is not None for standing in standings):
        yield BASE
    if any(standing.contender.name.endswith(harness("experience")) for standing in standings):
        yield HARNESS
