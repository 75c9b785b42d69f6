"""``expweaver.latent``: experience as latent memory, retrieved by the policy's own states while it decodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from xplearn import AgentView, Capability, Conditioner, Conditioning, ConfigError, ContractError, LocalPolicy, Query, Selection, derive
from xplearn_expweaver.bank import LatentBank

if TYPE_CHECKING:
    from torch import nn

    from xplearn_expweaver.adapter import LatentAdapter
    from xplearn_expweaver.thinking import Carried

NAME = "expweaver.latent"


@dataclass(kw_only=True)
class LatentConditioner(Conditioner):
    """Hands out the states of the selected experiences, and attaches the adapter that reads ``k`` of them at each decoding step.

    The messages stay as they are. The selector says which experiences may be read: with ``core.all`` the whole bank. What was made from
    the task at hand is never read. The adapter's parameters are trained with the policy's, by whatever learner scores its completions.
    """

    k: int = 5
    """States retrieved at a decoding step [OURS]; fewer where the bank is smaller."""
    space: str = "state"
    """Vector space of the bank with the policy's states, written by ``expweaver.summaries``."""
    every: Literal["token", "completion"] = "token"
    """Retrieve at every decoding step [P], or once per completion, by the state that ends the prompt (an ablation)."""
    pooling: Literal["attention", "mean", "similarity"] = "attention"
    """Cross-attention with a learnable query token [P]; or the mean, or a softmax over cosines at temperature 0.05 (ablations)."""
    query_mode: Literal["u", "u_plus_h"] = "u"
    """What attends: the query token as the paper says [P], or its sum with the hidden state [OURS]. For ``pooling: attention``."""
    attention_width: int = 0
    """Width of attention's query and keys; 0 for the hidden width, and for 256 where that is above 1024 [OURS]."""
    value_proj: bool = False
    """Attention has projections of its values, which start as identity [OURS]; without, it mixes the states themselves."""
    gate: Literal["gated", "none", "fixed"] = "gated"
    """The gated residual [P, parameterised as in HRPO: L]; or ``h + e``, or a constant mix ``fixed_a`` (ablations)."""
    fixed_a: float | None = None
    """Weight of the hidden state with ``gate: fixed``, in (0, 1), and only then."""
    carry: bool = False
    """Also carry the changed state into the embedding of the token drawn from it, through a gate of its own: HRPO's form [OURS]. Off, it
    never enters the network again."""
    r_min: float = 0.98
    """The gate's first least weight of the hidden state is uniform per channel from here [OURS], HRPO's value for 3B …"""
    r_max: float = 0.999
    """… to here [OURS], HRPO's value; 0 < r_min <= r_max < 1. The paper found an optimum and does not give it."""
    c: float = 8.0
    """Sharpness of the gate [L]."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError("k", f"must be at least 1, got {self.k}; to retrieve nothing: conditioner=core.none")
        if not self.space:
            raise ConfigError("space", "must name a vector space, e.g. state")
        if self.attention_width < 0:
            raise ConfigError("attention_width", f"must be 0 or more, got {self.attention_width}")
        for name, given in {
            "query_mode": self.query_mode != "u",
            "attention_width": self.attention_width,
            "value_proj": self.value_proj,
        }.items():
            if given and self.pooling != "attention":
                raise ConfigError(name, f"belongs to pooling: attention, not to pooling: {self.pooling}; leave it out")
        if (self.fixed_a is not None) != (self.gate == "fixed"):
            raise ConfigError("fixed_a", f"goes with gate: fixed, and only there; gate is {self.gate} and fixed_a is {self.fixed_a}")
        if self.fixed_a is not None and not 0.0 < self.fixed_a < 1.0:
            raise ConfigError("fixed_a", f"must lie in (0, 1), got {self.fixed_a}")
        if not 0.0 < self.r_min <= self.r_max < 1.0:
            raise ConfigError("r_min", f"want 0 < r_min <= r_max < 1, got {self.r_min} and {self.r_max}")
        if not 0.0 < self.c < math.inf:
            raise ConfigError("c", f"must be above 0, got {self.c}")
        self._bank: LatentBank | None = None

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"conditioner.latent", "conditioner.shows"})

    @property
    def requires(self) -> frozenset[Capability]:
        carried = {"learner.drawn"} if self.carry else set()
        asked = {"policy.memory", "policy.encode", "learner.conditioned", "selector.selects", f"store.space:{self.space}"}
        return frozenset(asked | carried)

    def setup(self, agent: AgentView) -> None:
        """Attach the adapter to the policy; its first weights depend on the run's seed alone.

        Raises:
            ContractError: the bank's vectors are not states of this policy's model.
            ConfigError: the policy has an adapter that retrieves already.
        """
        policy = cast(LocalPolicy, agent.policy)
        self._bank = LatentBank(agent.store, self.space, policy)
        policy.attach(self.adapter(policy.width, derive(agent.seed, NAME)))
        if self.carry:
            policy.attach(self._carried(policy.width, derive(agent.seed, NAME, "carry")))

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        """As ``Conditioner.condition``; selected experiences without a state, e.g. cards, are passed over.

        Raises:
            ContractError: the bank's vectors are not states of this policy's model.
        """
        bank = self._bank
        if bank is None:
            raise ContractError(NAME, "used before setup")
        return [self._conditioning(bank, query, selection) for query, selection in zip(queries, selections, strict=True)]

    def close(self) -> None:
        self._bank = None

    def adapter(self, width: int, seed: int) -> LatentAdapter:
        """The adapter for hidden states of this width, its first weights drawn by ``seed``."""
        import torch

        from xplearn_expweaver.adapter import LatentAdapter

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return LatentAdapter(k=self.k, pooling=self._pooling(width), gate=self._gate(width), every=self.every)

    def _carried(self, width: int, seed: int) -> Carried:
        import torch

        from xplearn_expweaver.thinking import Carried

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return Carried(width, r_min=self.r_min, r_max=self.r_max, c=self.c)

    def _pooling(self, width: int) -> nn.Module:
        from xplearn_expweaver.pooling import CrossAttention, Mean, Similarity

        if self.pooling == "attention":
            return CrossAttention(width, attention_width=self.attention_width, query_mode=self.query_mode, value_proj=self.value_proj)
        return Mean() if self.pooling == "mean" else Similarity()

    def _gate(self, width: int) -> nn.Module:
        from xplearn_expweaver.gate import Added, Fixed, Gated

        if self.gate == "gated":
            return Gated(width, r_min=self.r_min, r_max=self.r_max, c=self.c)
        return Added() if self.fixed_a is None else Fixed(self.fixed_a)

    def _conditioning(self, bank: LatentBank, query: Query, selection: Selection) -> Conditioning:
        ids = [experience.id for experience in selection.experiences if experience.task != query.task.id]
        return Conditioning(messages=query.messages, memory=bank.memory(ids) if ids else None)
