"""What travels between a pool and its workers: one JSON object a line, in ASCII, so that any text survives, lone surrogates included.

Each line begins with a mark: an activation script that wraps an interpreter may print before the worker speaks, and even on its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from xplearn import errors
from xplearn.errors import ContractError, XplearnError
from xplearn.record.formats import as_json, dump_trajectory, load_trajectory
from xplearn.rollout.pool import Start, Turn
from xplearn.types import Observation, Outcome, Task, Trajectory

PROTOCOL = 2
"""Grows with every change of what follows; both ends must agree."""

MARK = b"\x1explearn "
"""Begins a message, after the record separator of RFC 7464, which JSON can't contain."""

Json = dict[str, Any]

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def dump(message: Json) -> bytes:
    """A message as a line."""
    return MARK + _encode(message).encode("ascii") + b"\n"


def messages(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The messages among the lines of a stream; whatever else was printed there is left out."""
    for line in lines:
        _, marked, message = line.partition(MARK)
        if marked and message.endswith(b"\n"):
            yield message


def load(message: bytes) -> Json:
    """What ``messages`` found."""
    loaded: Json = json.loads(message)
    return loaded


def load_answer(message: bytes) -> Any:
    """What a worker answered: a JSON value, or the error it met."""
    answer = load(message)
    return load_error(answer["error"]) if "error" in answer else answer["value"]


def dump_task(task: Task) -> Json:
    return as_json(task)


def load_task(data: Json) -> Task:
    return Task(**data)


def dump_start(start: Start) -> Json:
    return {"observation": _dump_observation(start.observation), "messages": start.messages}


def load_start(data: Json) -> Start:
    return Start(observation=_load_observation(data["observation"]), messages=tuple(data["messages"]))


def dump_turn(turn: Turn) -> Json:
    outcome = turn.outcome
    return {"action": turn.action, "outcome": {**as_json(outcome), "observation": _dump_observation(outcome.observation)}}


def load_turn(data: Json) -> Turn:
    outcome = data["outcome"]
    return Turn(action=data["action"], outcome=Outcome(**{**outcome, "observation": _load_observation(outcome["observation"])}))


def dump_demonstration(trajectory: Trajectory) -> str:
    return dump_trajectory(trajectory)


def load_demonstration(data: str) -> Trajectory:
    return load_trajectory(data)


def dump_error(error: Exception, env: str) -> Json:
    """An error by its nearest class in ``xplearn.errors``; anything else becomes a ``ContractError`` of the environment."""
    known = error if isinstance(error, XplearnError) else ContractError(env, f"its worker raised {error!r}")
    name = next(cls.__name__ for cls in type(known).__mro__ if cls.__module__ == errors.__name__)
    return {"class": name, "message": str(known), "facts": {key: value for key, value in vars(known).items() if _plain(value)}}


def load_error(data: Mapping[str, Any]) -> XplearnError:
    """The same class with the same message and facts."""
    cls = getattr(errors, data["class"])
    error: XplearnError = cls.__new__(cls)
    error.args = (data["message"],)
    vars(error).update(data["facts"])
    return error


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float) or (isinstance(value, list | tuple) and all(isinstance(item, str) for item in value))


def _dump_observation(observation: Observation) -> Json:
    return {"text": observation.text, "actions": observation.actions}


def _load_observation(data: Json) -> Observation:
    actions = data["actions"]
    return Observation(text=data["text"], actions=None if actions is None else tuple(actions))
