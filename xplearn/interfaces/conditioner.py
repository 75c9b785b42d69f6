"""Showing experience to the policy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xplearn.component import Component
from xplearn.types import Answer, Completion, Conditioning, Query, Selection


class Conditioner(Component):
    """Turns selected experience into what the policy is given.

    An empty selection returns the messages unchanged and no memory. With the same selection, the conditioning of a later step
    extends that of an earlier one wherever the conversation does, so that the policy can reuse what it has read.
    """

    on_request: ClassVar[bool] = False
    """Nothing is shown but what ``consult`` answers: of its selection a step keeps that alone."""

    @abstractmethod
    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        """One conditioning per query, in order."""

    def consult(self, query: Query, selection: Selection, completion: Completion) -> Answer | None:
        """What a completion that asks the bank is answered; None where it speaks to the environment, as all do by default.

        The answer becomes the next user turn and the environment hears nothing of it. Only asked where the selection is not empty: the
        plain arm has nobody to ask. Depends on its arguments and the bank alone, and answers a bounded number of times an episode:
        ``query.messages`` holds those before.
        """
        return None
