"""``expweaver.search``: text retrieval that the model asks for itself, in the manner of Search-R1. A baseline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from xplearn import Answer, Conditioner, Conditioning, ConfigError, ContractError, Message, Selection
from xplearn.keys import led_by

if TYPE_CHECKING:
    from xplearn import AgentView, Completion, Encoder, ExperienceStore, Query

_CALL = re.compile(r"<search>(.*?)(?:</search>|\Z)", re.DOTALL)
"""A stop text is no part of a completion, so the call may be left open."""


@dataclass(kw_only=True)
class SearchConditioner(Conditioner):
    """Tells the policy how to search the bank, and answers its calls with the nearest experiences as text.

    Nothing is shown unasked: the selector decides what may be found (``core.all``: the whole bank but what was made from the task at
    hand), the policy when and with which words. Where an answer is chosen from a list, or an order of it, there is nothing to ask.
    """

    on_request: ClassVar[bool] = True

    space: str = "key"
    """Vector space of the bank to search, filled by a learner in ``record`` with the agent's encoder."""
    k: int = 3
    """Experiences an answer shows [L: Search-R1's top 3]."""
    calls: int = 2
    """Calls answered in an episode; later ones are what the environment hears."""
    limit_chars: int = 400
    """Longest text shown of one experience, in characters; the rest is cut."""
    instruction: str = (
        "You may look up related experience before you answer. To do so, write <search>what you want to know</search> and nothing else; "
        "what is found is shown to you. Otherwise answer."
    )
    """Stands before the task wherever there is something to search."""

    def __post_init__(self) -> None:
        for name in ("k", "calls", "limit_chars"):
            if getattr(self, name) < 1:
                raise ConfigError(name, f"must be at least 1, got {getattr(self, name)}")
        if not self.space:
            raise ConfigError("space", "must name a vector space, e.g. key")
        if "<search>" not in self.instruction:
            raise ConfigError("instruction", "must tell the policy to write <search>…</search>")
        self._parts: tuple[ExperienceStore, Encoder] | None = None

    @property
    def requires(self) -> frozenset[str]:
        return frozenset({"selector.selects", "sampling.words", f"store.space:{self.space}"})

    @property
    def ways_out(self) -> Mapping[str, str]:
        return {"sampling.words": "conditioner: core.prompt, which shows unasked"}

    def setup(self, agent: AgentView) -> None:
        self._parts = agent.store, agent.encoder

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        return [self._conditioning(query, selection) for query, selection in zip(queries, selections, strict=True)]

    def _conditioning(self, query: Query, selection: Selection) -> Conditioning:
        if not selection.experiences or query.candidates is not None:
            return Conditioning(messages=query.messages)
        return Conditioning(messages=led_by(self.instruction, query))

    def consult(self, query: Query, selection: Selection, completion: Completion) -> Answer | None:
        call = _CALL.search(completion.text)
        asked = call[1].strip() if call is not None else ""
        if not asked or query.candidates is not None or _answered(query.messages) >= self.calls:
            return None
        found = self._nearest(asked, selection)
        lines = [f"{number}. {self._shortened(entry.content)}" for number, entry in enumerate(found.experiences, 1)]
        return Answer(text="\n".join(["<information>", *lines, "</information>"]), selection=found)

    def _nearest(self, text: str, selection: Selection) -> Selection:
        if self._parts is None:
            raise ContractError("expweaver.search", "used before setup")
        store, encoder = self._parts
        held = store.spaces().get(self.space)
        if held != (encoder.id, encoder.dim):
            raise ContractError(
                "expweaver.search",
                f"space '{self.space}' of the bank holds {held and held[0]}, the agent's encoder is {encoder.id}; configure that encoder",
            )
        offered = {entry.id: entry for entry in selection.experiences}
        reach = self.k + max(len(store) - len(offered), 0)  # no more than those not on offer can come before
        (hits,) = store.search(self.space, encoder.encode([text]), reach)
        kept = [(offered[id], score) for id, score in hits if id in offered][: self.k]
        return Selection(experiences=tuple(entry for entry, _ in kept), scores=tuple(score for _, score in kept))

    def _shortened(self, text: str) -> str:
        return text if len(text) <= self.limit_chars else text[: self.limit_chars].rstrip() + " …"


def _answered(messages: Sequence[Message]) -> int:
    return sum("<search>" in message["content"] for message in messages if message["role"] == "assistant")
