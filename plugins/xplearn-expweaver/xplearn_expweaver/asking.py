"""``expweaver.search``: text retrieval that the model asks for itself, in the manner of Search-R1. A baseline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xplearn import Conditioner, Conditioning, ConfigError, ContractError, Message

if TYPE_CHECKING:
    from xplearn import AgentView, Completion, Encoder, Experience, ExperienceStore, Query, Selection

_CALL = re.compile(r"<search>(.*?)(?:</search>|\Z)", re.DOTALL)
"""A stop text is no part of a completion, so the call may be left open."""


@dataclass(kw_only=True)
class SearchConditioner(Conditioner):
    """Tells the policy how to search the bank, and answers its calls with the nearest experiences as text.

    Nothing is shown unasked: the selector decides what may be found (``core.all``: the whole bank but what was made from the task at
    hand), the policy when and with which words. Let completions end at the call: ``sampling.stop=["</search>"]``.
    """

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
    def provides(self) -> frozenset[str]:
        return frozenset({"conditioner.text"})

    @property
    def requires(self) -> frozenset[str]:
        return frozenset({f"store.space:{self.space}"})

    def setup(self, agent: AgentView) -> None:
        self._parts = agent.store, agent.encoder

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        return [self._conditioning(query, selection) for query, selection in zip(queries, selections, strict=True)]

    def _conditioning(self, query: Query, selection: Selection) -> Conditioning:
        if not selection.experiences:
            return Conditioning(messages=query.messages)
        return Conditioning(messages=_led_by(self.instruction, query.messages))

    def consult(self, query: Query, selection: Selection, completion: Completion) -> str | None:
        call = _CALL.search(completion.text)
        asked = call[1].strip() if call is not None else ""
        if not asked or _answered(query.messages) >= self.calls:
            return None
        found = [f"{number}. {self._shortened(entry.content)}" for number, entry in enumerate(self._nearest(asked, selection), 1)]
        return "\n".join(["<information>", *found, "</information>"])

    def _nearest(self, text: str, selection: Selection) -> list[Experience]:
        if self._parts is None:
            raise ContractError("expweaver.search", "used before setup")
        store, encoder = self._parts
        held = store.spaces().get(self.space)
        if held != (encoder.id, encoder.dim):
            raise ContractError(
                "expweaver.search",
                f"space '{self.space}' of the bank holds {held and held[0]}, the agent's encoder is {encoder.id}; configure that encoder",
            )
        scores = store.vectors(self.space, [entry.id for entry in selection.experiences]) @ encoder.encode([text])[0]
        return [selection.experiences[at] for at in np.argsort(-scores, kind="stable")[: self.k]]

    def _shortened(self, text: str) -> str:
        return text if len(text) <= self.limit_chars else text[: self.limit_chars].rstrip() + " …"


def _answered(messages: Sequence[Message]) -> int:
    return sum("<search>" in message["content"] for message in messages if message["role"] == "assistant")


def _led_by(text: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    for at, message in enumerate(messages):
        if message["role"] == "user":
            led: Message = {"role": "user", "content": f"{text}\n\n{message['content']}"}
            return (*messages[:at], led, *messages[at + 1 :])
    return (*messages, {"role": "user", "content": text})
