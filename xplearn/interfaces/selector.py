"""Choosing experience."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from xplearn.component import Component
from xplearn.interfaces.store import ExperienceStore
from xplearn.types import Query, Selection


class Selector(Component):
    """Chooses experiences. Reads the store, never writes.

    Purpose ``act`` (capability ``selector.act``): what the policy is shown at a decision point. Purpose ``study`` (``selector.study``):
    which of a stage's experiences, hence trajectories, the learners train on; ``Query.candidates`` then holds the ids on offer, and
    nothing else may be selected. One selection per query, in order. Empty store, empty selection. Same queries, store content and seed:
    same selections. An experience made from the task at hand is never selected for acting: pass ``store.from_task(query.task.id)`` as
    ``exclude``.
    """

    every: ClassVar[Literal["episode", "step"]] = "episode"
    """Whether an episode keeps its first selection or selects anew at each step."""

    @abstractmethod
    def select(self, queries: Sequence[Query], store: ExperienceStore) -> list[Selection]:
        """One selection per query, best first."""

    def explain(self) -> Mapping[str, Any]:
        """Why the last study selection is what it is, in JSON values: kept with the run, for reports. Empty where nothing is told.

        ``gains``, what each chosen in turn added, with ``kept``, how many were selected, is shown as a curve; beside it, where told,
        ``cards``, how many there were to cover, ``knee``, and ``draw``, how it was chosen.
        """
        return {}
