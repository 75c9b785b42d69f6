"""``now.json``: what a run is doing, while it does it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xplearn.record.checked import checked

NAME = "now.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """The phase under way."""

    phase: str
    """Its name, as progress is shown: episodes of ``train/0/0``, steps of training of ``learner.0/0/0``."""
    total: int
    """Units of work that it has."""
    done: int = 0
    began: float
    """When, in seconds since 1970."""
    at: float
    """When this was so."""
    ended: bool = False
    """Nothing that tells its progress has begun since."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """The latest ones."""

    @property
    def rate(self) -> float | None:
        """Units a second so far; None before the first."""
        return self.done / (self.at - self.began) if self.done and self.at > self.began else None

    def left(self, now: float) -> float | None:
        """Seconds that the rest will take at that rate; None where there is none."""
        return None if self.rate is None else max(0.0, (self.total - self.done) / self.rate - (now - self.at))


def read_now(folder: Path) -> Now | None:
    """What the run in a folder is doing; None where nothing says so."""
    try:
        return checked(Now, json.loads((folder / NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
