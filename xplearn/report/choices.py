"""What each choice of a cross changes on a board: of the configurations that ended, and in words what cannot be told."""

from __future__ import annotations

from itertools import groupby

from xplearn.metrics.along import Choice, Effects, along
from xplearn.metrics.board import Board
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.record.cross import Cross

TITLE = "What each choice changes"


def effects(board: Board, cross: Cross | None) -> Effects:
    """Of every label beside the first that its axis has in the cross's file and on this board; none without a cross.

    A configuration whose runs have not all ended is no match: what it learned so far does not stand beside what others learned in full.
    """
    if cross is None:
        return Effects()
    ended = {cell.run for cell in cross.cells if cell.state == "finished"}
    contenders = [standing.contender for standing in board.standings if ended.issuperset(standing.contender.runs)]
    return along(contenders, cross.axes, Bootstrap(confidence=board.confidence))


def over(found: Effects) -> str:
    """What their intervals are over, in words."""
    return "tasks" if max(effect.seeds for effect in found.found) == 1 else "tasks, and seeds where there are several"


def unmatched(found: Effects) -> str:
    """What cannot be told, and why, in a sentence; empty where all can."""
    groups = groupby(found.unmatched, key=lambda choice: (choice.axis, choice.against))
    told = [f"{axis} {_either(list(choices))} beside {against}" for (axis, against), choices in groups]
    return f"Not compared, as no two configurations differ in that alone: {'; '.join(told)}." if told else ""


def _either(choices: list[Choice]) -> str:
    *others, last = [choice.label for choice in choices]
    return f"{', '.join(others)} or {last}" if others else last
