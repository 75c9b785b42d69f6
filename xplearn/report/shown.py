"""What a run lets its policy see."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xplearn.record.reader import Run
    from xplearn.types import Arm

NOTHING = "core.none"
"""The selector that never selects."""


def told(run: Run, arm: Arm) -> Arm:
    """The arm of an episode as it was for the policy: plain wherever the run shows it nothing of a bank."""
    shows = run.header.parts.get("selector", {}).get("name", NOTHING) != NOTHING
    return arm if shows else "plain"
