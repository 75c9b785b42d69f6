"""Runs as tables: what they cost, how they kept what they had learned, and in what their configurations differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xplearn.metrics.continual import Matrix
from xplearn.metrics.spending import Upkeep
from xplearn.report.figure import Sheet
from xplearn.report.figures.spendings import Spendings


def costs_sheet(
    spendings: Mapping[str, Spendings],
    kept: Mapping[str, Upkeep] | None = None,
    stored: Mapping[str, int | None] | None = None,
    *,
    name: str = "costs-table",
) -> Sheet | None:
    """A row for each run: tokens and seconds by what they were for, and the upkeep of its bank; arguments as ``figures.costs``."""
    return None


def continual_sheet(matrices: Mapping[str, Matrix], *, name: str = "continual-table") -> Sheet | None:
    """A row for each matrix: final and average score, forgetting, backward and forward transfer; None where none has two stages."""
    return None


def config_sheet(resolved: Mapping[str, Mapping[str, Any]], *, name: str = "config-table") -> Sheet | None:
    """What differs between configurations: a row for each dotted path, a column for each run; None where there is no difference.

    Args:
        resolved: ``Header.resolved`` by name of the run.
        name: of the sheet.
    """
    return None
