"""How the weight of the teacher goes down while the scaffold stands."""

from __future__ import annotations

import math
from typing import Literal

Schedule = Literal["constant", "linear", "cosine"]
"""The same all along [P], or down to nothing at the scaffold's end."""


def factor(schedule: Schedule, done: int, steps: int | None) -> float:
    """What the coefficient is multiplied with after ``done`` of ``steps`` rounds: 0 once they are over, 1 where they never are (None)."""
    if steps is None:
        return 1.0
    if done >= steps:
        return 0.0
    progress = done / steps
    if schedule == "linear":
        return 1.0 - progress
    return 0.5 + 0.5 * math.cos(math.pi * progress) if schedule == "cosine" else 1.0
