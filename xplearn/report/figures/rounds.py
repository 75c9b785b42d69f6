"""Learning round by round: training scores of both arms, what experience gained, and the size of the bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xplearn.metrics.rounds import Round
from xplearn.report.figure import Figure


def learning(rounds: Mapping[str, Sequence[Round]], *, name: str = "learning") -> Figure | None:
    """Mean training score by round, a small panel for each run and a line for each arm; stages are parted by a rule.

    Args:
        rounds: by name of the run, as ``report.learning.rounds`` gives them; None is drawn where none has two rounds with scores.
        name: of the figure.
    """
    return None


def gain_and_bank(rounds: Mapping[str, Sequence[Round]], *, name: str = "gain-and-bank") -> Figure | None:
    """What experience gained in each round, as bars around zero, above the size of the bank, as an area; a panel for each run.

    Args:
        rounds: by name of the run; None is drawn where none has two rounds with a gain or a bank.
        name: of the figure.
    """
    return None
