"""What an experience is found by: one recipe for writing a key and for asking. Public: plugins that write or search a bank use it too.

A key holds the goal and the first observation only, which is what is known when acting starts; later observations would make
the key of a finished trajectory unlike any question.
"""

from __future__ import annotations

from collections.abc import Sequence

from xplearn.types import Message, Task, Trajectory


def query_text(task: Task, messages: Sequence[Message]) -> str:
    """The key of a moment: the first user turn of its conversation, led by the goal where that turn does not state it."""
    first = next((message["content"] for message in messages if message["role"] == "user"), "")
    return first if task.goal in first else f"{task.goal}\n\n{first}".strip()


def trajectory_key(trajectory: Trajectory) -> str:
    """The key of a trajectory's experience: that of its first step."""
    messages = trajectory.steps[0].query.messages if trajectory.steps else ()
    return query_text(trajectory.task, messages)
