"""``edge.retrieve``: similarity, utility, and curiosity about what was rarely shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from xplearn import ConfigError, ContractError, Experience, ExperienceStore, Query, Selection, Selector
from xplearn.keys import query_text
from xplearn_edge.index import SPACES, Found, Index, step_text
from xplearn_edge.principle import Pool
from xplearn_edge.ucb import ALPHA, UCB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xplearn import AgentView, Capability

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]

_TEXTS = 4096
"""Encoded questions remembered."""


@dataclass(kw_only=True)
class RetrieveSelector(Selector):
    """Selects by ``alpha * (cos + 1) / 2 + (1 - alpha) * (U + ucb * sqrt(log(1 + N) / (1 + n)))`` [C].

    ``U`` is an experience's utility, ``n`` how often it was shown and ``N`` how often any of its pool was. Task principles are found by
    goal and first observation, step principles by goal and current observation. A selection holds the task principles, best first, then
    the step principles, best first; its scores are the combined ones. Experience of any writer may be selected: what names no pool is
    about a task. Exact over the whole pool, ties by the order of the bank.
    """

    k: int = 6
    """How many task principles at most ([P]: m = 6; [C] shows 4)."""
    pools: Literal["task", "both"] = "task"
    """``both``: step principles as well [C]."""
    k_step: int = 6
    """For ``both``: how many step principles at most [C]."""
    every: Literal["episode", "step"] = "episode"  # type: ignore[misc]  # which of the two, the configuration says
    """Select once an episode [P], or anew each turn [C]; anew takes ``pools: both``, as goal and first observation do not change."""
    candidates: int | None = None
    """Rank only so many most similar of each pool; empty for the whole pool."""
    alpha: float = ALPHA
    """Share of the similarity in the score, in [0, 1] [C]; 1 ranks as ``core.nearest`` does."""
    ucb: float = UCB
    """Weight of the curiosity, in units of utility [C]."""
    min_score: float | None = None
    """Experience of a lower combined score is left out; empty to keep all."""

    def __post_init__(self) -> None:
        for name, count in (("k", self.k), ("k_step", self.k_step)):
            if count < 1:
                raise ConfigError(name, f"must be at least 1, got {count}; to select nothing: core.none")
        if self.every == "step" and self.pools == "task":
            raise ConfigError(
                "every", "step would select the same each turn, as task principles go by the first observation; set pools: both"
            )
        most = max(self._counts.values())
        if self.candidates is not None and self.candidates < most:
            raise ConfigError("candidates", f"must be at least as many as are selected, {most}, got {self.candidates}")
        if not 0.0 <= self.alpha <= 1.0:
            raise ConfigError("alpha", f"is a share in [0, 1], got {self.alpha}")
        if not 0.0 <= self.ucb < math.inf:
            raise ConfigError("ucb", f"must be a finite number of at least 0, got {self.ucb}")
        if self.min_score is not None and not math.isfinite(self.min_score):
            raise ConfigError("min_score", f"must be a finite number, got {self.min_score}; to keep all, leave it empty")
        self._agent: AgentView | None = None
        self._known: dict[str, Vector] = {}
        self._known_by = -1
        self._read: tuple[ExperienceStore | None, int, dict[Pool, Index]] = (None, -1, {})

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"selector.act"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset(f"store.space:{space}" for space in self._spaces)

    def setup(self, agent: AgentView) -> None:
        self._agent = agent
        self._require_fitting(agent.store)

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        if any(query.purpose != "act" for query in queries):
            raise ContractError("RetrieveSelector", "selects for acting only; for study use core.all or core.random")
        self._require_fitting(store)
        if not queries or len(store) == 0:
            return [Selection() for _ in queries]
        self._require_space(store)
        tasks = {query.task.id: store.from_task(query.task.id) for query in queries}
        barred = [tasks[query.task.id] for query in queries]
        found = [self._found(name, index, queries, barred) for name, index in self._indices(store).items()]
        return [self._selection(chain.from_iterable(parts)) for parts in zip(*found, strict=True)]

    def close(self) -> None:
        self._agent = None
        self._read = (None, -1, {})
        self._known.clear()

    @property
    def _counts(self) -> dict[Pool, int]:
        """How many at most, of each pool in the order of a selection."""
        return {"task": self.k} if self.pools == "task" else {"task": self.k, "step": self.k_step}

    @property
    def _spaces(self) -> list[str]:
        return [SPACES[name] for name in self._counts]

    def _found(self, name: Pool, index: Index, queries: Sequence[Query], barred: Sequence[frozenset[str]]) -> list[Found]:
        if not index.experiences:
            return [[] for _ in queries]
        ask = step_text if name == "step" else query_text
        questions = self._encoded([ask(query.task, query.messages) for query in queries])
        return index.best(questions, self._counts[name], barred=barred, alpha=self.alpha, candidates=self.candidates)

    def _selection(self, found: Iterable[tuple[Experience, float]]) -> Selection:
        kept = [(experience, score) for experience, score in found if self.min_score is None or score >= self.min_score]
        return Selection(experiences=tuple(experience for experience, _ in kept), scores=tuple(score for _, score in kept))

    def _indices(self, store: ExperienceStore) -> dict[Pool, Index]:
        """The pools of this bank, read anew when it has changed."""
        if self._read[0] is not store or self._read[1] != store.version:
            self._read = (store, store.version, {name: Index.of(store, name, ucb=self.ucb) for name in self._counts})
        return self._read[2]

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the questions; each is encoded once, as long as the policy stays what it is (an encoder may be made of it)."""
        agent = self._set_up()
        if self._known_by != agent.policy.version:
            self._known.clear()
            self._known_by = agent.policy.version
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, agent.encoder.encode(missing), strict=True))
        vectors = np.stack([self._known[text] for text in texts])
        for text in list(islice(self._known, max(0, len(self._known) - _TEXTS))):
            del self._known[text]
        return vectors

    def _require_fitting(self, store: ExperienceStore) -> None:
        encoder, spaces = self._set_up().encoder, store.spaces()
        for space in self._spaces:
            held = spaces.get(space, (encoder.id, encoder.dim))
            if held != (encoder.id, encoder.dim):
                raise ContractError(
                    "RetrieveSelector",
                    f"space '{space}' of the bank holds vectors of encoder '{held[0]}' with dimension {held[1]}, "
                    f"the agent's encoder is '{encoder.id}' with dimension {encoder.dim}; configure that encoder, or use another bank",
                )

    def _require_space(self, store: ExperienceStore) -> None:
        """A space that is not open yet is an empty pool; where none is, nothing could ever be found."""
        if not store.spaces().keys() & set(self._spaces):
            raise ContractError(
                "RetrieveSelector",
                f"the bank holds {len(store)} experiences but has no space {' or '.join(self._spaces)} to find them by (it has: "
                f"{', '.join(store.spaces()) or 'none'}); let a learner in `record` write them, e.g. edge.evolve, or use another bank",
            )

    def _set_up(self) -> AgentView:
        if self._agent is None:
            raise ContractError("RetrieveSelector", "used before setup")
        return self._agent
