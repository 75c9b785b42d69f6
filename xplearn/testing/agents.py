"""An agent of small parts, to test one part against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xplearn.builtin.conditioners import NoneConditioner
from xplearn.builtin.selectors import NoneSelector
from xplearn.component import Component, State
from xplearn.encoders.hashing import HashingEncoder
from xplearn.interfaces import Conditioner, Encoder, ExperienceStore, Policy, Selector
from xplearn.policies.scripted import ScriptedPolicy
from xplearn.stores.memory import MemoryStore
from xplearn.types import Arm, Conditioning, Query, Selection


class FakeCheckpoint:
    """Keeps the progress of ``learn`` in memory, and every figure reported."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.reports: list[tuple[int, int, dict[str, float]]] = []

    def load(self) -> State | None:
        """The last progress saved."""
        return self.state

    def save(self, state: State) -> None:
        """Replace the saved progress."""
        self.state = state

    def report(self, done: int, total: int, **scalars: float) -> None:
        """Remember the call."""
        self.reports.append((done, total, scalars))


class FakeJournal:
    """Keeps every note in memory."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def note(self, event: str, id: str, **facts: Any) -> None:
        """Remember the call."""
        self.lines.append({"event": event, "id": id, **facts})


@dataclass(kw_only=True)
class FakeAgent:
    """An ``AgentView`` with a scripted policy, hashed words and a bank in memory, unless given others.

    Use it as a context: parts are set up on entry and closed at the end.
    """

    policy: Policy = field(default_factory=lambda: ScriptedPolicy(lines=["look"], cycle=True))
    encoder: Encoder = field(default_factory=HashingEncoder)
    store: ExperienceStore = field(default_factory=MemoryStore)
    selector: Selector = field(default_factory=NoneSelector)
    conditioner: Conditioner = field(default_factory=NoneConditioner)
    seed: int = 0
    position: tuple[int, int] = (0, 0)
    checkpoint: FakeCheckpoint = field(default_factory=FakeCheckpoint)
    journal: FakeJournal = field(default_factory=FakeJournal)

    def condition(
        self, queries: Sequence[Query], arms: Sequence[Arm], previous: Sequence[Selection | None] | None = None
    ) -> tuple[list[Selection], list[Conditioning]]:
        """As ``AgentView.condition``."""
        earlier = previous if previous is not None else [None] * len(queries)
        kept = [self._kept(arm, last) for arm, last in zip(arms, earlier, strict=True)]
        asked = [query for query, selection in zip(queries, kept, strict=True) if selection is None]
        fresh = iter(self.selector.select(asked, self.store) if asked else [])
        selections = [selection if selection is not None else next(fresh) for selection in kept]
        return selections, self.conditioner.condition(queries, selections)

    def _kept(self, arm: Arm, last: Selection | None) -> Selection | None:
        if arm == "plain":
            return Selection()
        return last if self.selector.every == "episode" else None

    def __enter__(self) -> FakeAgent:
        for part in self._parts():
            part.setup(self)
        return self

    def __exit__(self, *error: object) -> None:
        for part in self._parts():
            part.close()

    def _parts(self) -> tuple[Component, ...]:
        return (self.policy, self.encoder, self.store, self.selector, self.conditioner)
