"""Conditioners of the core: ``core.none`` and ``core.prompt``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xplearn.capability import Capability
from xplearn.errors import ConfigError
from xplearn.interfaces import Conditioner
from xplearn.keys import led_by
from xplearn.types import Conditioning, Query, Selection


@dataclass(kw_only=True)
class NoneConditioner(Conditioner):
    """Shows nothing, whatever was selected."""

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"conditioner.none"})

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        return [Conditioning(messages=query.messages) for query in queries]


@dataclass(kw_only=True)
class PromptConditioner(Conditioner):
    """Shows the selected experiences as text: a numbered block at the head of the user turn that opens the task.

    The block stands where the conversation never changes, so a later step extends an earlier one. It is text inside a turn: an
    experience cannot open a turn of its own.
    """

    title: str = "Related experience:"
    """First line of the block."""
    limit_chars: int = 2000
    """Longest text shown of one experience, in characters; the rest is cut."""

    def __post_init__(self) -> None:
        if self.limit_chars < 1:
            raise ConfigError("limit_chars", f"must be at least 1, got {self.limit_chars}; to show nothing: core.none")

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"conditioner.text", "conditioner.shows"})

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        return [self._conditioning(query, selection) for query, selection in zip(queries, selections, strict=True)]

    def _conditioning(self, query: Query, selection: Selection) -> Conditioning:
        if not selection.experiences:
            return Conditioning(messages=query.messages)
        return Conditioning(messages=led_by(self._block(selection), query))

    def _block(self, selection: Selection) -> str:
        entries = (f"{number}. {self._shortened(e.content)}" for number, e in enumerate(selection.experiences, 1))
        return "\n".join([self.title, *entries])

    def _shortened(self, text: str) -> str:
        return text if len(text) <= self.limit_chars else text[: self.limit_chars].rstrip() + " …"
