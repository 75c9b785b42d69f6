"""Showing experience to the policy."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from xplearn.component import Component
from xplearn.types import Conditioning, Query, Selection


class Conditioner(Component):
    """Turns selected experience into what the policy is given.

    An empty selection returns the messages unchanged and no memory. With the same selection, the conditioning of a later step
    extends that of an earlier one wherever the conversation does, so that the policy can reuse what it has read.
    """

    @abstractmethod
    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        """One conditioning per query, in order."""
