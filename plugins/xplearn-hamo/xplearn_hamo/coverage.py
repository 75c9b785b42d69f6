"""``hamo.coverage``: the experiences to study are those that stand for the most others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from xplearn import ConfigError, ContractError, ExperienceStore, Query, Selection, Selector, derive
from xplearn_hamo.cards import CARD, KEY
from xplearn_hamo.greedy import greedy_cover
from xplearn_hamo.knee import CoverageCurve, Draw, knee
from xplearn_hamo.neighbours import nearest_neighbours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xplearn import AgentView, Capability

    Vectors = NDArray[np.float32]
    Rows = NDArray[np.int64]


@dataclass(kw_only=True)
class CoverageSelector(Selector):
    """Chooses anchors: experiences that are among the nearest neighbours of many others, each adding to what is covered.

    An experience covers those that have it among their ``k`` nearest neighbours. Anchors are chosen greedily by how many more they
    cover, until none covers more; ties go to the one among the neighbours of more, then to the smaller id. The order of the bank
    and of the candidates plays no part. What is nobody's neighbour is never an anchor, with one exception: a lone experience,
    which nothing could stand for, is its own anchor and scores 0. Experiences without a vector in the space take no part.

    A selection is in the order chosen; scores are the gains, in experiences newly covered; 0 where chance chose.
    """

    k: int = 3
    """[P] Neighbours of each experience, itself not counted; all others where there are no more than this."""
    space: str = ""
    """Vector space compared by cosine. Empty: ``card``, the full text of cards, where the bank has it, else ``key``, which any learner that
    records fills."""
    pool: Literal["stage", "cumulative"] = "stage"
    """[OURS] Where neighbours are looked for and coverage is counted: among the candidates, or in the whole bank. Anchors are
    always candidates; with ``cumulative`` there may be none, where others of the bank are nearer to everything."""
    budget: Literal["knee", "full"] = "knee"
    """[P] How many anchors: up to the knee of the coverage curve ([OURS] by Kneedle), or up to the last that covers more."""
    limit: int | None = None
    """[OURS] At most this many anchors; empty for no limit. For a fixed number: ``budget: full`` and the number here."""
    draw: Draw = "greedy"
    """[OURS] ``random`` is the control of equal budget: as many as greedy would keep, uniformly among the candidates with a vector."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError("k", f"must be at least 1, got {self.k}; to study everything: core.all")
        if self.limit is not None and self.limit < 1:
            raise ConfigError("limit", f"must be at least 1, got {self.limit}; to study nothing: core.none")
        self._curve: CoverageCurve | None = None
        self._seed = 0

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"selector.study"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({f"store.space:{self.space or KEY}"})

    @property
    def curve(self) -> CoverageCurve | None:
        """How coverage by greedy choice grew at the last query, whatever ``draw``, or None before the first."""
        return self._curve

    def explain(self) -> Mapping[str, Any]:
        """The coverage curve of the greedy choice: ``cards``, ``ids`` and ``gains`` in the order chosen, ``knee``, how many were ``kept``.

        ``draw`` says whether it was these that were studied, or as many at random.
        """
        return (
            {}
            if self._curve is None
            else {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self._curve).items()}
        )

    def setup(self, agent: AgentView) -> None:
        self._seed = agent.seed

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        if any(query.purpose != "study" for query in queries):
            raise ContractError("CoverageSelector", "chooses what to study only; for acting use core.nearest")
        return [self._selection(query, store) for query in queries]

    def _selection(self, query: Query, store: ExperienceStore) -> Selection:
        offered = query.candidates if query.candidates is not None else _bank(store)
        pool, vectors = self._members(store, _bank(store) if self.pool == "cumulative" else offered)
        allowed = _among(pool, offered)
        chosen, gains = _anchors(vectors, self.k, allowed)
        ids, counts = [pool[row] for row in chosen.tolist()], gains.tolist()
        best = knee(counts)
        kept = self._kept(best, len(ids))
        self._curve = CoverageCurve(cards=len(pool), ids=tuple(ids), gains=tuple(counts), knee=best, kept=kept, draw=self.draw)
        if self.draw == "random":
            ids, counts = self._drawn([pool[row] for row in np.flatnonzero(allowed).tolist()]), [0] * kept
        return Selection(experiences=tuple(store.get(ids[:kept])), scores=tuple(map(float, counts[:kept])))

    def _drawn(self, ids: Iterable[str]) -> list[str]:
        """In an order that depends on seed and ids alone."""
        return sorted(ids, key=lambda name: (derive(self._seed, "hamo.coverage", "draw", name), name))

    def _kept(self, best: int, found: int) -> int:
        count = best if self.budget == "knee" else found
        return count if self.limit is None else min(count, self.limit)

    def _members(self, store: ExperienceStore, ids: Iterable[str]) -> tuple[list[str], Vectors]:
        """Those of ``ids`` that have a vector, sorted, and their vectors."""
        wanted, known = sorted(set(ids)), store.spaces()
        space = self.space or next((name for name in (CARD, KEY) if name in known), CARD)
        if space not in known:
            if not wanted:
                return [], np.empty((0, 1), dtype=np.float32)
            spaces = ", ".join(known) or "none"
            raise ContractError("CoverageSelector", f"the bank has no space '{space}' (spaces: {spaces}); set space to one it has")
        try:
            return wanted, store.vectors(space, wanted)
        except ContractError:
            store.get(wanted)  # an unknown id is a fault; one that another learner wrote, without a vector, is not
        found = sorted(set(wanted).intersection(store.ids(space)))
        return found, store.vectors(space, found)


def _bank(store: ExperienceStore) -> list[str]:
    return [experience.id for experience in store]


def _among(pool: Sequence[str], offered: Iterable[str]) -> NDArray[np.bool_]:
    known = frozenset(offered)
    return np.fromiter((id in known for id in pool), dtype=np.bool_, count=len(pool))


def _anchors(vectors: Vectors, k: int, allowed: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Rows of the anchors in order, and their gains; a lone card is its own anchor."""
    if len(vectors) == 1:
        alone = np.flatnonzero(allowed)
        return alone, np.zeros_like(alone)
    return greedy_cover(nearest_neighbours(vectors, k), allowed)
