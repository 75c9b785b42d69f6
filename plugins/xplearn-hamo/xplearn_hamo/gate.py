"""``hamo.gate``: the nearest experience, where it is suitable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

import xplearn
from xplearn import ConfigError, ContractError, ExperienceStore, Query, Selection, Selector
from xplearn_hamo.moments import Moments, asked, digest, opening
from xplearn_hamo.probe import Probe
from xplearn_hamo.recent import Recent

if TYPE_CHECKING:
    from xplearn import AgentView, Capability

_SELECTIONS = 1024
"""Selections remembered."""
_SAMPLE = 2048
"""Keys that a threshold is learned from at most."""
_ROUNDING = 1e-5
"""Cosines this much below the threshold still reach it: an encoder's rows differ by less with the width of a batch, by more never."""


@dataclass(kw_only=True)
class GateSelector(Selector):
    """Selects as ``core.nearest`` does, rejects what is unsuitable, and can choose again when the observation has moved away [OURS].

    The paper's authors name both as missing. What is rejected is left out and nothing takes its place: where all is rejected the
    selection is empty, and the step acts as in the plain arm. A selection depends on its query, the bank and the policy alone, and is
    remembered for as long as neither changes.
    """

    k: int = 1
    """How many at most."""
    space: str = "key"
    """Vector space of the bank to search, filled by a learner in ``record``."""
    test: Literal["similarity", "probe"] = "similarity"
    """``similarity``: each experience below a cosine is left out. ``probe``: the policy is asked what it would do with the experiences and
    without, and all of them are left out where it is less sure of its answer with them."""
    threshold: float | None = None
    """The least cosine, for ``similarity``; empty: learned from the bank, see ``quantile``."""
    quantile: float = 0.1
    """Where the threshold is learned: the cosine that this share of the bank's keys does not reach with any key of another task. A bank
    that knows fewer than two tasks has nothing to learn from and accepts everything."""
    margin: float = 0.0
    """For ``probe``: how much surer the policy must be, in nats a token of its greedy answer; negative to keep what hurts only a little."""
    max_new_tokens: int = 16
    """For ``probe``: longest answer, in tokens."""
    refresh: bool = False
    """Select again, from the goal and the current observation, when that has moved away from the one selected for. The head of the prompt
    then changes within an episode, and what the policy has read of it is read anew."""
    refresh_below: float = 0.6
    """For ``refresh``: an observation has moved away when its cosine with the one selected for, each led by the goal, is below this."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError("k", f"must be at least 1, got {self.k}; to select nothing: core.none")
        if not self.space:
            raise ConfigError("space", "must name a vector space, e.g. key")
        if self.threshold is not None and self.test == "probe":
            raise ConfigError("threshold", "is a cosine for test: similarity; with test: probe leave it empty and set margin")
        for name, cosine in (("threshold", self.threshold or 0.0), ("refresh_below", self.refresh_below)):
            if not -1.0 <= cosine <= 1.0:
                raise ConfigError(name, f"is a cosine in [-1, 1], got {cosine}")
        if not 0.0 <= self.quantile <= 1.0:
            raise ConfigError("quantile", f"is a share in [0, 1], got {self.quantile}")
        if not math.isfinite(self.margin):
            raise ConfigError("margin", f"must be a finite number of nats, got {self.margin}")
        if self.max_new_tokens < 1:
            raise ConfigError("max_new_tokens", f"must be at least 1, got {self.max_new_tokens}")
        self._agent: AgentView | None = None
        self._known: Recent[tuple[str, int, int], Selection] = Recent(_SELECTIONS)
        self._store: ExperienceStore | None = None
        self._learned: tuple[int, float] = (-1, -1.0)

    @property
    def every(self) -> Literal["episode", "step"]:  # type: ignore[override]  # which of the two, the configuration says
        """Whether an episode keeps its first selection or is asked about at each step."""
        return "step" if self.refresh else "episode"

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"selector.act"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({f"store.space:{self.space}"}) | ({"policy.score", "conditioner.shows"} if self.test == "probe" else set())

    def setup(self, agent: AgentView) -> None:
        self._nearest = cast(Selector, xplearn.make("selector", "core.nearest", k=self.k, space=self.space))
        self._nearest.setup(agent)
        self._moments = Moments(agent, self.refresh_below)
        self._probe = Probe(agent=agent, margin=self.margin, max_new_tokens=self.max_new_tokens)
        self._agent = agent

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        if any(query.purpose != "act" for query in queries):
            raise ContractError("GateSelector", "chooses for acting only; for study use hamo.coverage or core.all")
        if self._agent is None:
            raise ContractError("GateSelector", "used before setup")
        if len(store) == 0:
            return [Selection() for _ in queries]
        self._remember_only(store)
        moments = self._moments.latest(queries) if self.refresh else [opening(query) for query in queries]
        keys = [(digest(moment), store.version, self._agent.policy.version) for moment in moments]
        by_key = dict(zip(keys, moments, strict=True))
        return self._known.values(keys, lambda missing: self._chosen([by_key[key] for key in missing], store))

    def least(self, store: ExperienceStore) -> float:
        """The cosine that experience must reach under ``similarity``: as configured, or as learned from the bank as it is now."""
        if self.threshold is not None:
            return self.threshold
        self._remember_only(store)
        if self._learned[0] != store.version:
            self._learned = (store.version, learned_threshold(store, self.space, self.quantile))
        return self._learned[1]

    def close(self) -> None:
        self._agent = self._store = None
        self._known.clear()

    def _remember_only(self, store: ExperienceStore) -> None:
        """Versions are those of one bank: with another, start anew."""
        if store is not self._store:
            self._store, self._learned = store, (-1, -1.0)
            self._known.clear()

    def _chosen(self, moments: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        found = self._nearest.select([asked(moment) for moment in moments], store)
        if self.test == "similarity":
            least = self.least(store) - _ROUNDING
            return [_reaching(least, selection) for selection in found]
        probed = [at for at, selection in enumerate(found) if selection.experiences]
        kept = self._probe.keeps([moments[at] for at in probed], [found[at] for at in probed]) if probed else []
        verdicts = dict(zip(probed, kept, strict=True))
        return [selection if verdicts.get(at) else Selection() for at, selection in enumerate(found)]


def learned_threshold(store: ExperienceStore, space: str, quantile: float) -> float:
    """The cosine that a share of ``quantile`` of the bank's keys does not reach with any key of another task.

    At most 2,048 keys are looked at, evenly spaced in the bank; each is compared with all. -1 where no two tasks have a key.
    """
    ids = store.ids(space)
    looked_at = ids[:: max(1, math.ceil(len(ids) / _SAMPLE))]
    others = [store.from_task(experience.task) for experience in store.get(looked_at)]
    nearest = store.search(space, store.vectors(space, looked_at), 1, exclude=others)
    cosines = [hits[0][1] for hits in nearest if hits]
    return float(np.quantile(cosines, quantile, method="lower")) if cosines else -1.0


def _reaching(least: float, selection: Selection) -> Selection:
    kept = [(found, score) for found, score in zip(selection.experiences, selection.scores, strict=True) if score >= least]
    return Selection(experiences=tuple(found for found, _ in kept), scores=tuple(score for _, score in kept))
