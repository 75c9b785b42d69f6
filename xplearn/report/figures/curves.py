"""Coverage curves: how much of a stage's experience the anchors of a curriculum cover, and where the curve bends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xplearn.report.figure import Figure

Told = Sequence[tuple[int, int, Mapping[str, Any]]]
"""As ``Run.explained()`` gives it: stage, round, and what the curriculum said."""


def coverage(told: Mapping[str, Told], *, name: str = "coverage") -> Figure | None:
    """Experiences covered by the first anchors, a small panel for each run and a curve for each round; knee and what was kept are marked.

    Args:
        told: ``Run.explained()`` by name of the run; None is drawn where no curriculum told a curve.
        name: of the figure.
    """
    return None
