"""R[stage, domain] as a heat map, and how each domain's score went over the stages."""

from __future__ import annotations

from collections.abc import Mapping

from xplearn.metrics.continual import Matrix
from xplearn.report.figure import Figure


def heatmap(matrix: Matrix, *, title: str = "", name: str = "heatmap") -> Figure | None:
    """The matrix with its scores in the cells; the stage that learned a domain is framed, what was not evaluated is a dash.

    Args:
        matrix: of one arm; None is drawn where nothing was evaluated.
        title: of the figure, by default naming the arm.
        name: of the figure.
    """
    return None


def forgetting(matrices: Mapping[str, Matrix], *, name: str = "forgetting") -> Figure | None:
    """Score over the stages, a small panel for each domain and a line for each matrix; the stages that learn the domain are marked.

    Args:
        matrices: by name of the run or configuration (and arm); None is drawn where none has two stages.
        name: of the figure.
    """
    return None
