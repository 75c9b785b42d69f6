"""Costs: tokens, time and storage of each contender."""

from __future__ import annotations

from collections.abc import Mapping

from xplearn.metrics.spending import Purpose, Spent, Upkeep
from xplearn.report.figure import Figure
from xplearn.types import Arm

Spendings = Mapping[tuple[Purpose, Arm], Spent]


def costs(
    spendings: Mapping[str, Spendings],
    kept: Mapping[str, Upkeep] | None = None,
    stored: Mapping[str, int | None] | None = None,
    *,
    name: str = "costs",
) -> Figure | None:
    """Tokens and seconds by what they were for, and bytes of the bank, as bars; a scale is logarithmic where figures differ over fifty times.

    Args:
        spendings: ``report.costs.costs(...)[0]`` by name; None is drawn where there is none.
        kept: ``report.costs.costs(...)[1]`` by name: seconds of learners.
        stored: bytes on disk of each bank by name.
        name: of the figure.
    """
    return None
