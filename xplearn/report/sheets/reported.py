"""Figures that papers report, apart from ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xplearn.report.figure import Sheet

if TYPE_CHECKING:
    from xplearn.reported import Reported


def reported_sheet(rows: Sequence[Reported], *, name: str = "reported-table") -> Sheet | None:
    """Figures as papers report them, never measured here and not comparable with ours; title and caption say so."""
    if not rows:
        return None
    return Sheet(
        name=name,
        title="Reported by papers, not measured here",
        caption=(
            "As the papers report them, other policies, splits and environment versions than ours. Nothing here was measured by xplearn, "
            "and nothing of it may stand in one table with what was."
        ),
        columns=("paper", "method", "policy", "domain", "split", "environment", "figure", "value", "note"),
        rows=[
            [row.paper, row.method, row.policy, row.domain, row.split, row.environment, row.figure, f"{row.value:.12g}", row.note]
            for row in rows  # every digit that a paper gives
        ],
    )
