"""Trajectories as JSON lines, compact: what steps share is written once, so a line grows with the episode and not with its square.

Messages, experiences, memories and sampling settings go into tables of the line and are referred to by number; of a list that
extends the previous step's (conversation, prompt tokens) only the new part is written, as ``[kept, new]``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from xplearn.metrics.cost import shared_prefix
from xplearn.record.tables import Tables
from xplearn.types import Completion, Conditioning, Query, Selection, Step, Task, Trajectory

Json = dict[str, Any]

_SCALARS = ("id", "arm", "group", "seed", "source", "score", "success", "final", "seconds", "error")
_encode = json.JSONEncoder(separators=(",", ":")).encode


def dump_trajectory(trajectory: Trajectory) -> str:
    """One line of JSON, without its newline."""
    tables, deltas = Tables(), _Deltas()
    steps = [_dump_step(step, tables, deltas) for step in trajectory.steps]
    line: Json = {name: getattr(trajectory, name) for name in _SCALARS}
    line["task"] = as_json(trajectory.task)
    line["steps"] = steps
    line["tables"] = tables.dump()
    return _encode(line)


def load_trajectory(line: str) -> Trajectory:
    """What ``dump_trajectory`` wrote."""
    raw = json.loads(line)
    task = Task(**raw["task"])
    tables, deltas = Tables.load(raw["tables"]), _Deltas()
    steps = tuple(_load_step(step, index, task, tables, deltas) for index, step in enumerate(raw["steps"]))
    return Trajectory(task=task, steps=steps, **{name: raw[name] for name in _SCALARS})


def as_json(value: Any) -> Json:
    """The fields of a flat record by name, uncopied."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


class _Deltas:
    """The last value of each list that grows from step to step."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Any, ...]] = {}

    def shrink(self, name: str, values: tuple[Any, ...]) -> list[Any]:
        last = self._last.get(name, ())
        kept = shared_prefix(last, values)
        self._last[name] = values
        return [kept, *values[kept:]]

    def grow(self, name: str, delta: Sequence[Any]) -> tuple[Any, ...]:
        values = self._last.get(name, ())[: delta[0]] + tuple(delta[1:])
        self._last[name] = values
        return values

    def extend(self, name: str, values: tuple[Any, ...]) -> None:
        self._last[name] += values


def _dump_step(step: Step, tables: Tables, deltas: _Deltas) -> Json:
    completion, memory = step.completion, step.conditioning.memory
    query = deltas.shrink("query", tuple(map(tables.message, step.query.messages)))
    conditioning = deltas.shrink("conditioning", tuple(map(tables.message, step.conditioning.messages)))
    prompt = deltas.shrink("prompt", completion.prompt_ids)
    deltas.extend("prompt", completion.token_ids)
    line: Json = {
        "query": query,
        "candidates": step.query.candidates,
        "conditioning": conditioning,
        "text": completion.text,
        "prompt": prompt,
        "tokens": completion.token_ids,
        "logprobs": completion.logprobs,
        "sampling": tables.sampling(completion.sampling),
        "version": completion.policy_version,
        "finish": completion.finish,
        "action": step.action,
        "reward": step.reward,
        "end": [step.terminated, step.truncated, step.valid],
    }
    if step.selection.experiences:
        line["selection"] = [[tables.experience(found) for found in step.selection.experiences], step.selection.scores]
    if memory is not None:
        line["memory"] = tables.memory(memory)
    return line


def _load_step(line: Json, index: int, task: Task, tables: Tables, deltas: _Deltas) -> Step:
    messages = tuple(tables.messages[number] for number in deltas.grow("query", line["query"]))
    shown = tuple(tables.messages[number] for number in deltas.grow("conditioning", line["conditioning"]))
    prompt_ids = deltas.grow("prompt", line["prompt"])
    token_ids = tuple(line["tokens"])
    deltas.extend("prompt", token_ids)
    numbers, scores = line.get("selection", ((), ()))
    terminated, truncated, valid = line["end"]
    return Step(
        query=Query(purpose="act", task=task, messages=messages, index=index, candidates=_tuple(line["candidates"])),
        selection=Selection(experiences=tuple(tables.experiences[number] for number in numbers), scores=tuple(scores)),
        conditioning=Conditioning(messages=shown, memory=tables.memories[line["memory"]] if "memory" in line else None),
        completion=Completion(
            text=line["text"],
            prompt_ids=prompt_ids,
            token_ids=token_ids,
            logprobs=_tuple(line["logprobs"]),
            sampling=tables.samplings[line["sampling"]],
            policy_version=line["version"],
            finish=line["finish"],
        ),
        action=line["action"],
        reward=line["reward"],
        terminated=terminated,
        truncated=truncated,
        valid=valid,
    )


def _tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
