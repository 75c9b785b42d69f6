"""The agent: a policy, a bank, a selector and a conditioner, and how they act together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xplearn.component import Component, State
from xplearn.errors import ContractError
from xplearn.interfaces import Checkpoint, Conditioner, Encoder, ExperienceStore, Journal, Policy, Selector
from xplearn.types import Arm, Conditioning, Query, Selection

_EMPTY = Selection()


class NoCheckpoint:
    """The checkpoint outside a run: keeps nothing, tells nobody."""

    def load(self) -> State | None:
        return None

    def save(self, state: State) -> None:
        pass

    def report(self, done: int, total: int, **scalars: float) -> None:
        pass


class NoJournal:
    """The journal outside a run: keeps nothing."""

    def note(self, event: str, id: str, **facts: Any) -> None:
        pass


class Agent:
    """One agent, an ``AgentView``. Whoever carries a run out moves ``position`` and sets ``checkpoint`` and ``journal``."""

    def __init__(
        self, *, policy: Policy, encoder: Encoder, store: ExperienceStore, selector: Selector, conditioner: Conditioner, seed: int = 0
    ) -> None:
        self.policy = policy
        self.encoder = encoder
        self.store = store
        self.selector = selector
        self.conditioner = conditioner
        self.seed = seed
        self.position: tuple[int, int] = (0, 0)
        self.checkpoint: Checkpoint = NoCheckpoint()
        self.journal: Journal = NoJournal()
        self.reached: Counter[bool] = Counter()
        """Selections of which something reached the policy, and of which nothing did: a conditioner may pass over what it cannot use."""

    @property
    def parts(self) -> Mapping[str, Component]:
        """The agent's parts by slot, in the order they are set up."""
        return {
            "policy": self.policy,
            "encoder": self.encoder,
            "store": self.store,
            "selector": self.selector,
            "conditioner": self.conditioner,
        }

    def setup(self) -> None:
        """Set every part up."""
        for part in self.parts.values():
            part.setup(self)

    def close(self) -> None:
        """Close every part, the last first. May be called twice."""
        for part in reversed(list(self.parts.values())):
            part.close()

    def condition(
        self, queries: Sequence[Query], arms: Sequence[Arm], previous: Sequence[Selection | None] | None = None
    ) -> tuple[list[Selection], list[Conditioning]]:
        """Select and condition for each query; see ``AgentView.condition``.

        An experience made from the task at hand is left out whatever the selector says (the leak guard's second line).

        Raises:
            ContractError: a part returned another number or kind of answers than it was asked for, or an empty selection changed
                the messages: the plain arm must be the bare conversation.
        """
        before = previous if previous is not None else [None] * len(queries)
        selections = list(self._selections(queries, arms, before))
        conditionings = self.conditioner.condition(queries, selections)
        _require(self.conditioner, "conditionings", len(conditionings), len(queries))
        _require_each(self.conditioner, conditionings, Conditioning)
        for query, selection, conditioning in zip(queries, selections, conditionings, strict=True):
            if selection.experiences:
                self.reached[changes(query, conditioning)] += 1
            elif changes(query, conditioning):
                raise ContractError(type(self.conditioner).__name__, "an empty selection must leave the messages unchanged, without memory")
        return selections, conditionings

    def _selections(self, queries: Sequence[Query], arms: Sequence[Arm], previous: Sequence[Selection | None]) -> Iterator[Selection]:
        once = self.selector.every == "episode"
        kept = [_EMPTY if arm == "plain" else old if once else None for arm, old in zip(arms, previous, strict=True)]
        fresh = [query for query, old in zip(queries, kept, strict=True) if old is None]
        chosen = self.selector.select(fresh, self.store) if fresh else []
        _require(self.selector, "selections", len(chosen), len(fresh))
        _require_each(self.selector, chosen, Selection)
        answers = iter(chosen)
        for query, old in zip(queries, kept, strict=True):
            yield old if old is not None else without_task(next(answers), query.task.id)


def changes(query: Query, conditioning: Conditioning) -> bool:
    """Whether anything but the bare conversation reaches the policy."""
    return conditioning.memory is not None or conditioning.messages != query.messages


def without_task(selection: Selection, task: str) -> Selection:
    """The selection without experiences made from this task."""
    if all(experience.task != task for experience in selection.experiences):
        return selection
    kept = [index for index, experience in enumerate(selection.experiences) if experience.task != task]
    return Selection(
        experiences=tuple(selection.experiences[index] for index in kept),
        scores=tuple(selection.scores[index] for index in kept) if selection.scores else (),
    )


def _require_each(part: Component, found: Sequence[object], wanted: type) -> None:
    strange = next((one for one in found if not isinstance(one, wanted)), None)
    if strange is not None:
        raise ContractError(type(part).__name__, f"returned a {type(strange).__name__} for a query; want a {wanted.__name__} for each")


def _require(part: Component, what: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise ContractError(type(part).__name__, f"returned {found} {what} for {wanted} queries; want one each, in order")
