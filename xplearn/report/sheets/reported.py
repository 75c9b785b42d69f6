"""Figures that papers report, apart from ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xplearn.report.figure import Sheet


class Reported(Protocol):
    """A figure as a paper reports it."""

    paper: str
    method: str
    policy: str
    domain: str
    split: str
    figure: str
    value: float
    note: str


def reported_sheet(rows: Sequence[Reported], *, name: str = "reported-table") -> Sheet | None:
    """Figures as papers report them, never measured here and not comparable with ours; title and caption say so."""
    return None
