"""The settings of learning from pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xplearn import ConfigError


@dataclass(kw_only=True)
class DpoConfig:
    """The second phase of ETO. Paper and release train every weight; a LoRA adapter wants rates 10 to 100 times as high [OURS]."""

    beta: float = 0.1
    """How near the policy stays to the one that played [P]."""
    beta_later: float = 0.5
    """The same from a stage's second round of pairs on [C]."""
    lr: float = 1e-6
    """Learning rate after the warm-up [P]."""
    lr_later: float = 5e-7
    """The same from a stage's second round of pairs on [C]."""
    epochs: int = 3
    """Passes over the pairs of a round [C]."""
    batch: int = 32
    """Pairs per optimiser step [P]."""
    warmup_share: float = 0.1
    """Share of the steps in which the learning rate rises; then it is constant [C]."""
    margin: float = 0.0
    """Two trajectories make a pair where their scores, in [0, 1], differ by more than this [C]."""

    def __post_init__(self) -> None:
        for name in ("beta", "beta_later", "lr", "lr_later", "epochs", "batch"):
            if not 0 < getattr(self, name) < math.inf:
                raise ConfigError(name, f"must be above 0, not {getattr(self, name)}")
        if not 0 <= self.warmup_share <= 1:
            raise ConfigError("warmup_share", f"must lie in [0, 1], not {self.warmup_share}")
        if not 0 <= self.margin < 1:
            raise ConfigError("margin", f"must lie in [0, 1), not {self.margin}")
