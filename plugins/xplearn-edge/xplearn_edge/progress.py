"""What ``edge.evolve`` keeps beside the bank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xplearn_edge.utility import Window


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far the evolution is; exchanged as a whole at the end of a step, so that a step cut short leaves none of it."""

    step: int = 0
    """Steps so far, those of earlier runs with this bank included."""
    window: Window = field(default_factory=Window)
    """Gains since the utilities last moved."""
    seeded: Mapping[str, int] = field(default_factory=dict)
    """Seeds written so far, by kind of task; what was dropped since counts too."""
    unsourced: tuple[str, ...] = ()
    """Ids of entries without a source that the journal knows of."""

    def state(self) -> dict[str, Any]:
        """As JSON values."""
        return {"step": self.step, "window": self.window.state(), "seeded": dict(self.seeded), "unsourced": list(self.unsourced)}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Progress:
        """What ``state`` was made from."""
        if not state:
            return cls()
        window, seeded = Window(**state["window"]), dict(state["seeded"])
        return cls(step=int(state["step"]), window=window, seeded=seeded, unsourced=tuple(state["unsourced"]))
