"""``core.nearest``: the experiences whose key is most like the moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xplearn.builtin.selectors import check_count, require_act
from xplearn.capability import Capability
from xplearn.errors import ConfigError, ContractError
from xplearn.interfaces import Encoder, ExperienceStore, Selector
from xplearn.keys import query_text
from xplearn.types import Query, Selection

if TYPE_CHECKING:
    from xplearn.interfaces import AgentView


@dataclass(kw_only=True)
class NearestSelector(Selector):
    """Selects the ``k`` experiences with the highest cosine between their key and goal and first observation of the task."""

    k: int = 1
    """How many; fewer where the bank is smaller."""
    space: str = "key"
    """Vector space of the bank to search, filled by a learner in ``record``."""
    min_score: float = -1.0
    """Experiences below this cosine are left out; -1 keeps all."""

    def __post_init__(self) -> None:
        check_count("k", self.k)
        if not self.space:
            raise ConfigError("space", "must name a vector space, e.g. key")
        if not -1.0 <= self.min_score <= 1.0:
            raise ConfigError("min_score", f"is a cosine in [-1, 1], got {self.min_score}")
        self._encoder: Encoder | None = None

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"selector.act"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({f"store.space:{self.space}"})

    def setup(self, agent: AgentView) -> None:
        self._encoder = agent.encoder
        self._fitting_encoder(agent.store)

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        require_act(self, queries)
        if not queries or len(store) == 0:
            return [Selection() for _ in queries]
        vectors = self._fitting_encoder(store).encode([query_text(query.task, query.messages) for query in queries])
        exclude = [store.from_task(query.task.id) for query in queries]
        hits = store.search(self.space, vectors, self.k, exclude=exclude)
        return [self._selection(found, store) for found in hits]

    def _selection(self, found: Sequence[tuple[str, float]], store: ExperienceStore) -> Selection:
        kept = [(id, score) for id, score in found if score >= self.min_score]
        experiences = store.get([id for id, _ in kept])
        return Selection(experiences=tuple(experiences), scores=tuple(score for _, score in kept))

    def _fitting_encoder(self, store: ExperienceStore) -> Encoder:
        encoder = self._encoder
        if encoder is None:
            raise ContractError("NearestSelector", "used before setup")
        held = store.spaces().get(self.space)
        if held is not None and held != (encoder.id, encoder.dim):
            raise ContractError(
                "NearestSelector",
                f"space '{self.space}' of the bank holds vectors of encoder '{held[0]}' with dimension {held[1]}, "
                f"the agent's encoder is '{encoder.id}' with dimension {encoder.dim}; configure that encoder, or use another bank",
            )
        return encoder
