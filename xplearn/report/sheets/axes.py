"""What each choice changes, as a table."""

from __future__ import annotations

from xplearn.metrics.along import Effect, Effects
from xplearn.metrics.board import Board
from xplearn.report.choices import TITLE, over, unmatched
from xplearn.report.figure import Cell, Sheet
from xplearn.report.sheets.boards import difference_cells

_OVER = ("configurations", "lowest", "highest")


def axes_sheet(board: Board, effects: Effects, *, name: str = "axes-table") -> Sheet | None:
    """Every label beside the first of its axis, over how many configurations, and between what their own differences lie."""
    if not effects.found:
        return None
    return Sheet(
        name=name,
        title=f"{TITLE}: {board.title}",
        caption=(
            "Paired differences of configurations that are alike in all else, each with its bank where it has one: their mean in points "
            f"with {100 * board.confidence:g} % intervals over {over(effects)}; of those with either label how many were run with both; "
            f"the lowest and highest of these. Holm: corrected for all rows. Marked: below {board.level:.3g} then. {unmatched(effects)}"
        ).strip(),
        columns=("choice", "beside", "axis", "difference", "p", "p (Holm)", *_OVER, "tasks better", "tasks worse", "tasks", "seeds"),
        rows=[_row(effect) for effect in effects.found],
        marked=[number for number, effect in enumerate(effects.found) if effect.difference.p_holm < board.level],
        signed=(3, 7, 8),
    )


def _row(effect: Effect) -> list[Cell]:
    choice, (difference, p, p_holm, *tasks) = effect.choice, difference_cells(effect.difference)
    matches: list[Cell] = [f"{effect.matched} of {effect.configurations}", min(effect.each), max(effect.each)]
    return [choice.label, choice.against, choice.axis, difference, p, p_holm, *matches, *tasks, effect.seeds]
