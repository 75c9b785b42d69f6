"""``edge.prompt``: principles about the task and about the step, as bullets with a caution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xplearn import Conditioner, Conditioning, ConfigError, Message, Query, Selection
from xplearn.keys import led_by
from xplearn_edge.index import pool_of
from xplearn_edge.principle import Pool, one_line

if TYPE_CHECKING:
    from xplearn import AgentView, Capability


@dataclass(kw_only=True)
class PrinciplesConditioner(Conditioner):
    """Shows the selected experiences as bullets in two sections, about the task and about the step, and a caution [C].

    The section about the task stands at the head of the turn that opens it, where the conversation never changes. Where the selector
    chooses once an episode the section about the step follows it there, and each step extends the one before. Where the selector
    chooses anew at each step, what it chose for the step stands at the end of the last user turn. That costs one reading of the last
    answer: the conversation up to the end of the last observation is shared with the step before, but no step as a whole extends
    another, so a learner reads the steps of a trajectory one by one instead of packed into one sequence.

    Content is data: one line a bullet, without control characters. It is text inside a turn and cannot open one of its own.
    """

    task_title: str = "Principles for this kind of task:"
    """First line of the section about the task."""
    step_title: str = "Principles for the current step:"
    """First line of the section about the step."""
    caution: str = "They come from earlier attempts and may be outdated or not fit; trust what you observe."
    """Last line, shown once; empty for none."""
    limit_chars: int = 500
    """Longest text shown of one experience, in characters; the rest is cut."""

    def __post_init__(self) -> None:
        if self.limit_chars < 1:
            raise ConfigError("limit_chars", f"must be at least 1, got {self.limit_chars}; to show nothing: core.none")
        self._anew = False

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"conditioner.text", "conditioner.shows"})

    def setup(self, agent: AgentView) -> None:
        self._anew = agent.selector.every == "step"

    def condition(self, queries: Sequence[Query], selections: Sequence[Selection]) -> list[Conditioning]:
        return [Conditioning(messages=self._shown(query, found)) for query, found in zip(queries, selections, strict=True)]

    def _shown(self, query: Query, selection: Selection) -> tuple[Message, ...]:
        task, step = self._section(selection, "task"), self._section(selection, "step")
        if not self._anew or not step:
            return led_by(self._block(task, step), query) if task or step else query.messages
        if not task:
            return _ended_by(self._block(step), query.messages)
        return _ended_by(step, led_by(self._block(task), query))

    def _block(self, *sections: str) -> str:
        return "\n\n".join(filter(None, (*sections, self.caution)))

    def _section(self, selection: Selection, pool: Pool) -> str:
        """The bullets of one pool, best first, under their title; empty where there is none."""
        lines = [one_line(found.content, self.limit_chars) for found in selection.experiences if pool_of(found) == pool]
        bullets = [f"- {line}" for line in lines if line]
        title = self.task_title if pool == "task" else self.step_title
        return "\n".join([title, *bullets]) if bullets else ""


def _ended_by(text: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """A conversation with ``text`` at the end of its last user turn: text within that turn, not one of its own."""
    at = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=None)
    if at is None:
        return (*messages, {"role": "user", "content": text})
    ended: Message = {"role": "user", "content": f"{messages[at]['content']}\n\n{text}"}
    return (*messages[:at], ended, *messages[at + 1 :])
