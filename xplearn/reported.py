"""What papers report of their own runs: never measured here, never in one table with what was."""

from __future__ import annotations

from dataclasses import dataclass

NOT_STATED = "not stated"
"""What stands where a paper is silent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One figure of a paper."""

    paper: str
    """Short name and where to find it, e.g. ``EDGE, arXiv 2608.21946``."""
    method: str
    policy: str
    """The language model, as the paper names it."""
    domain: str
    split: str
    """Which tasks were evaluated."""
    figure: str
    """Its name and unit, e.g. ``success, %``."""
    value: float
    environment: str = NOT_STATED
    """Version of what was evaluated on."""
    note: str = ""
    """What a reader must know, above all where the figure is inferred from others."""
