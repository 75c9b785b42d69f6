"""General conversations: read from a file, and drawn in the share that is wanted."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from xplearn import Arm, Conditioning, DataError, LocalPolicy, Message, Query, Selection, Step, Task, Trajectory, derive

Conversation = tuple[Message, ...]
"""Turns of user and assistant in alternation, the assistant's last; before them perhaps the system's."""

EXAMPLE = '{"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}'


def read(path: str) -> list[Conversation]:
    """The conversations of a JSONL file; of the small set that comes with the plugin where ``path`` is empty.

    Raises:
        DataError: the file cannot be read, holds nothing, or a line is no conversation; with the number of the line.
    """
    if not path:
        text = files("xplearn_baselines").joinpath("general.jsonl").read_text(encoding="utf-8")
        return _conversations(text, "general.jsonl")
    try:
        return _conversations(Path(path).expanduser().read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise DataError(path, f"cannot be read ({reason}); give a JSONL file of {EXAMPLE}, or leave 'general' out") from None


def draw(known: int, count: int, seed: int) -> list[int]:
    """Numbers of ``count`` out of ``known`` conversations: all of them in an order fixed by the seed, anew as often as it takes."""
    numbers: list[int] = []
    while len(numbers) < count:
        turn = len(numbers)
        numbers += sorted(range(known), key=lambda number: derive(seed, turn, number))
    return numbers[:count]


def demonstration(conversation: Conversation, policy: LocalPolicy, *, arm: Arm, name: str) -> Trajectory:
    """A conversation as a trajectory whose steps are the assistant's turns, tokens included."""
    task = Task(id=name, env="general", split="train", goal=conversation[0]["content"])
    turns = [index for index, message in enumerate(conversation) if message["role"] == "assistant"]
    shown = [Conditioning(messages=conversation[:index]) for index in turns]
    completions = policy.transcribe(shown, [conversation[index]["content"] for index in turns])
    steps = tuple(
        Step(
            query=Query(purpose="act", task=task, messages=given.messages, index=number),
            selection=Selection(),
            conditioning=given,
            completion=completion,
            action=completion.text,
            reward=0.0,
            terminated=False,
            truncated=False,
            valid=True,
        )
        for number, (given, completion) in enumerate(zip(shown, completions, strict=True))
    )
    return Trajectory(id=name, task=task, steps=steps, arm=arm, group=name, seed=0, source="demonstration", score=1.0, success=True)


def _conversations(text: str, path: str) -> list[Conversation]:
    found = [_conversation(row, path, number) for number, row in enumerate(text.split("\n"), start=1) if row.strip()]
    if not found:
        raise DataError(path, f"holds no conversation; want lines of {EXAMPLE}")
    return found


def _conversation(row: str, path: str, number: int) -> Conversation:
    try:
        value = json.loads(row)
    except ValueError as error:
        raise DataError(path, f"line {number}: not JSON ({error}); want {EXAMPLE}") from None
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not all(_is_message(message) for message in messages):
        raise DataError(path, f"line {number}: want {EXAMPLE}, no text empty")
    roles = [message["role"] for message in messages]
    turns = roles[1:] if roles[:1] == ["system"] else roles
    if not turns or turns != ["user", "assistant"] * (len(turns) // 2):
        raise DataError(
            path, f"line {number}: user and assistant must alternate and the assistant have the last word, not {', '.join(roles)}"
        )
    return tuple(Message(role=message["role"], content=message["content"]) for message in messages)


def _is_message(value: Any) -> bool:
    known = isinstance(value, dict) and value.get("role") in {"system", "user", "assistant"}
    return known and isinstance(value.get("content"), str) and bool(value["content"].strip())
