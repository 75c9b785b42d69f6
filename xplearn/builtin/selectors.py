"""Selectors that compare nothing: ``core.none``, ``core.all``, ``core.random``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from xplearn.capability import Capability
from xplearn.errors import ConfigError, ContractError
from xplearn.interfaces import ExperienceStore, Selector
from xplearn.seeding import derive
from xplearn.types import Query, Selection

if TYPE_CHECKING:
    from xplearn.interfaces import AgentView

ACT_AND_STUDY: frozenset[Capability] = frozenset({"selector.act", "selector.study"})


def check_count(field: str, value: int) -> None:
    """Raise ``ConfigError`` unless ``value`` is a positive number of experiences."""
    if value < 1:
        raise ConfigError(field, f"must be at least 1, got {value}; to select nothing: core.none")


def require_act(selector: Selector, queries: Sequence[Query]) -> None:
    """Raise ``ContractError`` where a selector made for acting is asked what to study."""
    if any(query.purpose != "act" for query in queries):
        raise ContractError(type(selector).__name__, "selects for acting only; for study use core.all or core.random")


@dataclass(kw_only=True)
class NoneSelector(Selector):
    """Selects nothing. As ``selector`` it is the run without experience; as ``curriculum`` nothing is studied."""

    @property
    def provides(self) -> frozenset[Capability]:
        return ACT_AND_STUDY | {"selector.none"}

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        return [Selection() for _ in queries]


class _Listing(Selector):
    """Knows which ids a query may have, in order: the candidates of a study query, else the bank without the task at hand."""

    def __post_init__(self) -> None:
        self._listed: tuple[ExperienceStore | None, int, list[str]] = (None, -1, [])

    @property
    def provides(self) -> frozenset[Capability]:
        return ACT_AND_STUDY

    def _offered(self, query: Query, store: ExperienceStore) -> tuple[Sequence[str], frozenset[str]]:
        """Ids on offer, and those among them that are barred."""
        if query.purpose == "study":
            return query.candidates if query.candidates is not None else self._ids(store), frozenset()
        return self._ids(store), store.from_task(query.task.id)

    def _ids(self, store: ExperienceStore) -> list[str]:
        if self._listed[0] is not store or self._listed[1] != store.version:
            self._listed = (store, store.version, [experience.id for experience in store])
        return self._listed[2]


@dataclass(kw_only=True)
class AllSelector(_Listing):
    """Selects everything on offer, in the order of the bank."""

    limit: int | None = None
    """At most this many when acting, the oldest first; empty for no limit."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.limit is not None:
            check_count("limit", self.limit)
        self._whole: tuple[ExperienceStore | None, int, Selection] = (None, -1, Selection())

    @property
    def provides(self) -> frozenset[Capability]:
        return ACT_AND_STUDY | {"selector.all"}

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        return [self._selection(query, store) for query in queries]

    def _selection(self, query: Query, store: ExperienceStore) -> Selection:
        if query.purpose == "act" and self.limit is None:
            return _without(self._everything(store), store.from_task(query.task.id))
        offered, barred = self._offered(query, store)
        allowed = (id for id in offered if id not in barred)
        chosen = store.get(list(islice(allowed, self.limit if query.purpose == "act" else None)))
        return Selection(experiences=tuple(chosen), scores=(0.0,) * len(chosen))

    def _everything(self, store: ExperienceStore) -> Selection:
        """The whole bank, one and the same selection until it changes: many queries may share it."""
        if self._whole[0] is not store or self._whole[1] != store.version:
            bank = tuple(store)
            self._whole = (store, store.version, Selection(experiences=bank, scores=(0.0,) * len(bank)))
        return self._whole[2]


def _without(selection: Selection, barred: frozenset[str]) -> Selection:
    if not barred:
        return selection
    kept = tuple(experience for experience in selection.experiences if experience.id not in barred)
    return Selection(experiences=kept, scores=(0.0,) * len(kept))


@dataclass(kw_only=True)
class RandomSelector(_Listing):
    """Selects ``k`` at random: for one seed, task and bank always the same ones."""

    k: int = 1
    """How many; all where fewer are on offer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("k", self.k)
        self._seed = 0

    def setup(self, agent: AgentView) -> None:
        self._seed = agent.seed

    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        return [self._selection(query, store) for query in queries]

    def _selection(self, query: Query, store: ExperienceStore) -> Selection:
        offered, barred = self._offered(query, store)
        seed = derive(self._seed, "selector.random", query.purpose, query.task.env, query.task.id)
        drawn = (offered[at] for at in _drawn(len(offered), seed))
        chosen = store.get(list(islice((id for id in drawn if id not in barred), self.k)))
        return Selection(experiences=tuple(chosen), scores=(0.0,) * len(chosen))


def _drawn(size: int, seed: int) -> Iterator[int]:
    """The positions 0 … size-1 in random order, each drawn only when asked for (a sparse Fisher-Yates shuffle)."""
    moved: dict[int, int] = {}
    for at in range(size):
        other = at + derive(seed, at) % (size - at)
        yield moved.get(other, other)
        moved[other] = moved.get(at, at)
