"""The tables of one trajectory line: each message, experience, memory and sampling setting once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from xplearn.record.tensors import dump_array, load_array
from xplearn.types import Experience, Memory, Message, Sampling


class Tables:
    """Numbered values, filled while a trajectory is written and read back before its steps."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.experiences: list[Experience] = []
        self.memories: list[Memory] = []
        self.samplings: list[Sampling] = []
        self._message_numbers: dict[tuple[str, str], int] = {}
        self._experience_numbers: dict[str, int] = {}

    def message(self, message: Message) -> int:
        """The number of a message, equal ones sharing it."""
        key = (message["role"], message["content"])
        number = self._message_numbers.get(key)
        if number is None:
            number = self._message_numbers[key] = len(self.messages)
            self.messages.append(message)
        return number

    def experience(self, experience: Experience) -> int:
        """The number of an experience."""
        number = self._experience_numbers.get(experience.id)
        if number is None or self.experiences[number] != experience:
            number = self._experience_numbers[experience.id] = len(self.experiences)
            self.experiences.append(experience)
        return number

    def sampling(self, sampling: Sampling) -> int:
        """The number of a sampling setting."""
        return _number(self.samplings, sampling)

    def memory(self, memory: Memory) -> int:
        """The number of a memory; tensors are compared by identity, an episode hands on the same object."""
        for number, known in enumerate(self.memories):
            if known is memory:
                return number
        self.memories.append(memory)
        return len(self.memories) - 1

    def dump(self) -> dict[str, Any]:
        """As JSON values; empty tables left out."""
        tables: dict[str, list[Any]] = {
            "messages": [[message["role"], message["content"]] for message in self.messages],
            "experiences": [_shallow(experience) for experience in self.experiences],
            "memories": [{"states": dump_array(memory.states), "ids": memory.ids, "barred": memory.barred} for memory in self.memories],
            "samplings": [_shallow(sampling) for sampling in self.samplings],
        }
        return {name: rows for name, rows in tables.items() if rows}

    @classmethod
    def load(cls, raw: Mapping[str, Any]) -> Tables:
        """What ``dump`` returned."""
        tables = cls()
        tables.messages = [{"role": role, "content": content} for role, content in raw.get("messages", ())]
        tables.experiences = [Experience(**{**row, "created": tuple(row["created"])}) for row in raw.get("experiences", ())]
        tables.memories = [
            Memory(states=load_array(row["states"]), ids=tuple(row["ids"]), barred=tuple(row.get("barred", ())))
            for row in raw.get("memories", ())
        ]
        tables.samplings = [Sampling(**{**row, "stop": tuple(row["stop"])}) for row in raw.get("samplings", ())]
        return tables


def _number(known: list[Any], value: Any) -> int:
    for number, other in enumerate(known):
        if other is value or other == value:
            return number
    known.append(value)
    return len(known) - 1


def _shallow(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
