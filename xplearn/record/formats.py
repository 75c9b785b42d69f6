"""Trajectories as JSON lines, compact: what steps share is written once, so a line grows with the episode and not with its square.

Messages, experiences, memories and sampling settings go into tables of the line and are referred to by number; of a list that
extends the previous step's (conversation, prompt tokens) only the new part is written, as ``[kept, new]``.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from typing import Any

from xplearn.metrics.cost import shared_prefix
from xplearn.record.checked import checked
from xplearn.record.tables import Tables
from xplearn.record.tensors import dump_array, load_array
from xplearn.types import Completion, Conditioning, EpisodeResult, Message, Query, Selection, Step, Task, Trajectory

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


def load_result(line: str) -> EpisodeResult:
    """One line of ``episodes.jsonl``.

    Raises:
        ValueError: a field is missing, unknown or of a wrong type, or a number is not finite.
    """
    return checked(EpisodeResult, json.loads(line))


def as_json(value: Any) -> Json:
    """The fields of a flat record by name, uncopied."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


class _Deltas:
    """The last value of each list that grows from step to step."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Any, ...]] = {}

    def shrink(self, name: str, values: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]]:
        """How much of the last value was kept, and what is new."""
        kept = shared_prefix(self._last.get(name, ()), values)
        self._last[name] = values
        return kept, values[kept:]

    def grow(self, name: str, kept: int, new: Iterable[Any]) -> tuple[Any, ...]:
        """The value that ``shrink`` was given."""
        values = self._last[name] = self._last.get(name, ())[:kept] + tuple(new)
        return values

    def set(self, name: str, values: tuple[Any, ...]) -> None:
        """Known to both sides without writing it."""
        self._last[name] = values


def _dump_messages(name: str, messages: tuple[Message, ...], tables: Tables, deltas: _Deltas) -> list[int]:
    kept, new = deltas.shrink(name, messages)
    return [kept, *map(tables.message, new)]


def _load_messages(name: str, delta: Sequence[int], tables: Tables, deltas: _Deltas) -> tuple[Message, ...]:
    return deltas.grow(name, delta[0], (tables.messages[number] for number in delta[1:]))


def _dump_step(step: Step, tables: Tables, deltas: _Deltas) -> Json:
    completion, memory = step.completion, step.conditioning.memory
    kept, new = deltas.shrink("prompt", completion.prompt_ids)
    deltas.set("prompt", completion.prompt_ids + completion.token_ids)
    line: Json = {
        "query": _dump_messages("query", step.query.messages, tables, deltas),
        "candidates": step.query.candidates,
        "text": completion.text,
        "prompt": [kept, *new],
        "tokens": completion.token_ids,
        "logprobs": completion.logprobs,
        "sampling": tables.sampling(completion.sampling),
        "version": completion.policy_version,
        "finish": completion.finish,
        "action": step.action,
        "reward": step.reward,
        "end": [step.terminated, step.truncated, step.valid],
    }
    if step.conditioning.messages != step.query.messages:
        line["conditioning"] = _dump_messages("conditioning", step.conditioning.messages, tables, deltas)
    if step.selection.experiences:
        line["selection"] = [[tables.experience(found) for found in step.selection.experiences], step.selection.scores]
    if memory is not None:
        line["memory"] = tables.memory(memory)
    if completion.counted is not None:
        line["counted"] = completion.counted
    if completion.retrieved is not None:
        line["retrieved"] = completion.retrieved
    if completion.thoughts is not None:
        line["thoughts"] = dump_array(completion.thoughts)
    return line


def _load_step(line: Json, index: int, task: Task, tables: Tables, deltas: _Deltas) -> Step:
    messages = shown = _load_messages("query", line["query"], tables, deltas)
    if "conditioning" in line:
        shown = _load_messages("conditioning", line["conditioning"], tables, deltas)
    prompt_ids = deltas.grow("prompt", line["prompt"][0], line["prompt"][1:])
    token_ids = tuple(line["tokens"])
    deltas.set("prompt", prompt_ids + token_ids)
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
            counted=_tuple(line.get("counted")),
            retrieved=tuple(map(tuple, line["retrieved"])) if "retrieved" in line else None,
            thoughts=load_array(line["thoughts"]) if "thoughts" in line else None,
        ),
        action=line["action"],
        reward=line["reward"],
        terminated=terminated,
        truncated=truncated,
        valid=valid,
    )


def _tuple(values: list[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)
