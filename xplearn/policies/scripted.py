"""Policies without a model: ``core.scripted`` and ``core.random``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xplearn.capability import Capability
from xplearn.errors import ContractError
from xplearn.interfaces import Policy
from xplearn.interfaces.policy import AllChoices
from xplearn.seeding import derive
from xplearn.types import Completion, Conditioning, Message, Sampling


@dataclass(kw_only=True)
class ScriptedPolicy(Policy):
    """Says the lines of a script in order: the i-th line when it has spoken i times before."""

    lines: list[str] = field(default_factory=list)
    """What to say, turn by turn; past the end it says nothing."""
    cycle: bool = False
    """Start over at the end."""
    scripts: dict[str, list[str]] = field(default_factory=dict)
    """Lines to say instead, by a text that the first user turn must contain; the first that fits."""

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"policy.keyed"})

    def generate(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None = None
    ) -> list[Completion]:
        return [Completion(text=self._line(conditioning.messages), sampling=sampling) for conditioning in conditionings]

    def _line(self, messages: Sequence[Message]) -> str:
        lines = self._script(messages) if self.scripts else self.lines
        turn = sum(1 for message in messages if message["role"] == "assistant")
        if self.cycle and lines:
            turn %= len(lines)
        return lines[turn] if turn < len(lines) else ""

    def _script(self, messages: Sequence[Message]) -> list[str]:
        first = next((message["content"] for message in messages if message["role"] == "user"), "")
        return next((lines for text, lines in self.scripts.items() if text in first), self.lines)


@dataclass(kw_only=True)
class RandomPolicy(Policy):
    """Takes an admissible action at random, by its key alone."""

    @property
    def provides(self) -> frozenset[Capability]:
        return frozenset({"policy.keyed"})

    @property
    def requires(self) -> frozenset[Capability]:
        return frozenset({"env.actions"})

    def generate(
        self, conditionings: Sequence[Conditioning], sampling: Sampling, keys: Sequence[int], choices: AllChoices | None = None
    ) -> list[Completion]:
        rows = choices if choices is not None else [None] * len(conditionings)
        return [Completion(text=_drawn(actions, key), sampling=sampling) for actions, key in zip(rows, keys, strict=True)]


def _drawn(actions: Sequence[str] | None, key: int) -> str:
    if not actions:
        raise ContractError("RandomPolicy", "draws among admissible actions and was given none; set sampling.choices=admissible")
    return actions[derive(key, "policy.random") % len(actions)]
