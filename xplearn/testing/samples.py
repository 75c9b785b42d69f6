"""Small made-up tasks, trajectories and experiences, the same on every call."""

from __future__ import annotations

from xplearn.types import Arm, Completion, Conditioning, Experience, Message, Query, Selection, Step, Task, Trajectory

KINDS = ("boil", "fetch", "paint")
"""Kinds of the made-up tasks, in turn."""


def task(number: int = 0, *, split: str = "train") -> Task:
    """A made-up task; equal numbers, equal tasks."""
    kind = KINDS[number % len(KINDS)]
    return Task(id=f"{kind}-{number}", env="sample.text", split=split, goal=f"{kind} object number {number}", kind=kind)


def opening(number: int = 0) -> tuple[Message, ...]:
    """The conversation before the first action of ``task(number)``."""
    goal = task(number).goal
    return (
        {"role": "system", "content": "Answer with one action."},
        {"role": "user", "content": f"Task: {goal}\n\nYou are in room {number}. You see a door and a lamp."},
    )


def query(number: int = 0, *, steps: int = 0) -> Query:
    """An act query of ``task(number)`` after ``steps`` actions."""
    messages = opening(number)
    for index in range(steps):
        messages += ({"role": "assistant", "content": f"open door {index}"}, {"role": "user", "content": f"Door {index} is open."})
    return Query(purpose="act", task=task(number), messages=messages, index=steps, candidates=("open door 0", "look", "wait"))


def trajectory(number: int = 0, *, length: int = 3, arm: Arm = "plain", error: str | None = None) -> Trajectory:
    """A trajectory of ``task(number)``; even numbers are solved."""
    solved = number % 2 == 0
    return Trajectory(
        id=f"train/{task(number).id}/{arm}/0",
        task=task(number),
        steps=tuple(_step(number, index, last=index == length - 1) for index in range(length)),
        arm=arm,
        group=task(number).id,
        seed=number,
        source="demonstration",
        score=1.0 if solved else 0.25,
        success=solved,
        final="The lamp is on.",
        error=error,
    )


def _step(number: int, index: int, *, last: bool) -> Step:
    asked = query(number, steps=index)
    action = f"open door {index}"
    return Step(
        query=asked,
        selection=Selection(),
        conditioning=Conditioning(messages=asked.messages),
        completion=Completion(text=action),
        action=action,
        reward=1.0 if last else 0.0,
        terminated=last,
        truncated=False,
        valid=True,
    )


def experience(number: int = 0) -> Experience:
    """An experience made from ``task(number)``."""
    made_from = task(number)
    return Experience(
        id=f"experience-{number}",
        kind="record",
        key=f"Task: {made_from.goal}",
        content=f"Number {number}: open the door, then {made_from.kind}.",
        source=f"train/{made_from.id}/plain/0",
        task=made_from.id,
        task_kind=made_from.kind,
        outcome=(number % 5) / 4,
        created=(0, number, 1),
        meta={"number": number, "words": ["door", "lamp"]},
    )
