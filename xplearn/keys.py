"""What an experience is found by: one recipe for writing a key and for asking. Public: plugins that write or search a bank use it too.

A key holds the goal and the first observation only, which is what is known when acting starts; later observations would make
the key of a finished trajectory unlike any question.
"""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.types import Message, Query, Task, Trajectory


def query_text(task: Task, messages: Sequence[Message]) -> str:
    """The key of a moment: the user turn that opens its task, led by the goal where that turn does not state it."""
    at = opening_turn(task, messages)
    first = messages[at]["content"] if at is not None else ""
    return first if task.goal in first else f"{task.goal}\n\n{first}".strip()


def opening_turn(task: Task, messages: Sequence[Message]) -> int | None:
    """Place of the user turn that opens a task: the first that states its goal, as solved examples may stand before; else the first.

    None where there is no user turn.
    """
    turns = [at for at, message in enumerate(messages) if message["role"] == "user"]
    stating = (at for at in turns if task.goal in messages[at]["content"])
    return next(stating, turns[0] if turns else None)


def led_by(text: str, query: Query) -> tuple[Message, ...]:
    """The conversation of a query with ``text`` at the head of the turn that opens its task: text within that turn, not one of its own."""
    messages, at = query.messages, opening_turn(query.task, query.messages)
    if at is None:
        return (*messages, {"role": "user", "content": text})
    led: Message = {"role": "user", "content": f"{text}\n\n{messages[at]['content']}"}
    return (*messages[:at], led, *messages[at + 1 :])


def trajectory_key(trajectory: Trajectory) -> str:
    """The key of a trajectory's experience: that of its first step."""
    messages = trajectory.steps[0].query.messages if trajectory.steps else ()
    return query_text(trajectory.task, messages)
