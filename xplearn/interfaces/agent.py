"""What a part sees of the agent it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from xplearn.component import State
from xplearn.types import Arm, Conditioning, Query, Selection

if TYPE_CHECKING:
    from xplearn.interfaces.conditioner import Conditioner
    from xplearn.interfaces.encoder import Encoder
    from xplearn.interfaces.policy import Policy
    from xplearn.interfaces.selector import Selector
    from xplearn.interfaces.store import ExperienceStore


class Checkpoint(Protocol):
    """Where a long ``learn`` keeps its progress, so that a kill costs seconds and not the whole training."""

    def load(self) -> State | None:
        """The last progress saved by this learner for this very call of ``learn``, or None."""
        ...

    def save(self, state: State) -> None:
        """Replace the saved progress, atomically. Tensors and JSON values only."""
        ...

    def report(self, done: int, total: int, **scalars: float) -> None:
        """Tell the person watching how far training is (steps) and its latest figures."""
        ...


class Journal(Protocol):
    """Where a learner says why it changed the bank.

    That an experience was added or removed is written down for every learner; what a learner notes itself is the reason, and the worth of
    an experience over time.
    """

    def note(self, event: str, id: str, **facts: Any) -> None:
        """Write down one thing that happened to one experience.

        Kept once the ``learn`` call under way has succeeded, with its stage, round and learner; a kill neither loses nor repeats a line.
        What was noted before progress was saved is kept with it: a call that goes on from there does not note it again.

        Args:
            event: a word, e.g. ``expanded``, ``utility``, ``merged``, ``pruned``, ``refused``.
            id: of the experience; empty where none came to be.
            facts: JSON values by name; text in them is data.
        """
        ...


class AgentView(Protocol):
    """Policy, bank, selector and conditioner of one agent, as its parts see it."""

    @property
    def policy(self) -> Policy: ...
    @property
    def encoder(self) -> Encoder: ...
    @property
    def store(self) -> ExperienceStore: ...
    @property
    def selector(self) -> Selector: ...
    @property
    def conditioner(self) -> Conditioner: ...
    @property
    def seed(self) -> int:
        """The run's seed; combine with ``derive``."""
        ...

    @property
    def position(self) -> tuple[int, int]:
        """(stage, round) the run is at."""
        ...

    @property
    def checkpoint(self) -> Checkpoint:
        """Progress of the ``learn`` call under way."""
        ...

    @property
    def journal(self) -> Journal:
        """Why the bank changes, for ``xplearn bank``."""
        ...

    def condition(
        self, queries: Sequence[Query], arms: Sequence[Arm], previous: Sequence[Selection | None] | None = None
    ) -> tuple[list[Selection], list[Conditioning]]:
        """Select and condition for each query.

        Args:
            queries: act queries.
            arms: one per query; ``plain`` gets the empty selection.
            previous: the selection of the same episode's last step, reused where the selector chooses once an episode.
        """
        ...
