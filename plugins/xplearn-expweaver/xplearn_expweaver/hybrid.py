"""``expweaver.hybrid``: latent reasoning without a bank, in the manner of HRPO. A baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xplearn import Capability, Conditioner, Conditioning, ConfigError, LocalPolicy, derive

if TYPE_CHECKING:
    from xplearn import AgentView, Query, Selection

NAME = "expweaver.hybrid"


@dataclass(kw_only=True)
class HybridConditioner(Conditioner):
    """Shows nothing, and lets the policy carry its own expectation from each drawn token into the next.

    It is a part of the policy and not of its experience: both arms have it, so run it with ``selector=core.none`` and compare runs.
    """

    temperature: float = 0.5
    """Of the distribution whose expectation is carried [L: HRPO samples at 0.5]."""
    r_min: float = 0.99
    """The gate's first least weight of the token's embedding is uniform per channel from here [L: HRPO's default] …"""
    r_max: float = 0.999
    """… to here [L]; 0 < r_min <= r_max < 1."""
    c: float = 8.0
    """Sharpness of the gate [L]."""

    def __post_init__(self) -> None:
        if not 0.0 < self.r_min <= self.r_max < 1.0:
            raise ConfigError("r_min", f"want 0 < r_min <= r_max < 1, got {self.r_min} and {self.r_max}")
        for name in ("temperature", "c"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ConfigError(name, f"must be above 0, got {getattr(self, name)}")

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"conditioner.none"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"policy.memory", "policy.encode", "learner.drawn"})

    def setup(self, agent: AgentView) -> None:
        """Attach the recurrence to the policy; its first weights depend on the run's seed alone."""
        import torch

        from xplearn_expweaver.thinking import Expectation

        policy = cast(LocalPolicy, agent.policy)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(agent.seed, NAME))
            policy.attach(Expectation(policy.width, temperature=self.temperature, r_min=self.r_min, r_max=self.r_max, c=self.c))

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        return [Conditioning(messages=query.messages) for query in queries]
