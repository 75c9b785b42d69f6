"""Trajectories as a person reads them, quickly: texts, rewards and counts, without token ids, log-probabilities, prompts and memories."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xplearn.errors import RecordError

_ID = re.compile(rb'\{"id":("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewedStep:
    """One observation-action-reward turn."""

    observation: str
    """The last turn of the conversation, without experience."""
    text: str
    """What the policy said."""
    action: str
    """What the environment received; empty where the bank was asked instead."""
    reward: float
    terminated: bool
    truncated: bool
    valid: bool
    read: int
    """Prompt tokens that no earlier step of the episode had read."""
    written: int
    experiences: tuple[Mapping[str, Any], ...]
    """Fields of the selected experiences, best first."""
    scores: tuple[float, ...]
    candidates: tuple[str, ...]
    """Admissible actions, as far as the task lists them."""
    ranked: bool
    """The action is an order of them."""
    latent: bool
    """The experience was given as memory inside the forward pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewed:
    """One episode."""

    id: str
    goal: str
    source: str
    opening: tuple[tuple[str, str], ...]
    """Role and text of each turn before the first observation."""
    steps: tuple[ViewedStep, ...]
    final: str
    """The observation after the last action."""


def places(path: Path) -> dict[str, int]:
    """Where in a file of trajectories each one's line begins, in bytes, by id. A torn last line is left out.

    Raises:
        RecordError: a line is damaged.
    """
    found, offset = {}, 0
    if path.exists():
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    found[_id(path, line)] = offset
                offset += len(line)
    return found


def view(path: Path, offset: int) -> Viewed:
    """The trajectory whose line begins at ``offset``.

    Raises:
        RecordError: the line is damaged.
    """
    with path.open("rb") as file:
        file.seek(offset)
        line = file.readline()
    try:
        return parse(line.decode())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RecordError(path, f"the line at byte {offset} is damaged ({error}); remove the run folder and start anew") from error


def parse(line: str) -> Viewed:
    """What ``formats.dump_trajectory`` wrote."""
    raw = json.loads(line)
    tables, known = raw["tables"], _Known()
    steps = tuple(_step(step, tables, known) for step in raw["steps"])
    first = raw["steps"][0]["query"][1:-1] if steps else ()
    opening = tuple(tables["messages"][number] for number in first)
    return Viewed(id=raw["id"], goal=raw["task"]["goal"], source=raw["source"], opening=opening, steps=steps, final=raw["final"])


class _Known:
    """What an episode's later steps continue."""

    def __init__(self) -> None:
        self.messages: list[int] = []
        self.tokens = 0
        """Length of the last prompt and of what was written behind it."""


def _step(line: Mapping[str, Any], tables: Mapping[str, Any], known: _Known) -> ViewedStep:
    known.messages = known.messages[: line["query"][0]] + line["query"][1:]
    numbers, scores = line.get("selection", ((), ()))
    kept, *new = line["prompt"]
    ranked = tables["samplings"][line["sampling"]]["choices"] == "rank"
    said = 0 if ranked else len(line["tokens"])  # an order is not written
    read = kept + len(new) - min(kept, known.tokens)
    known.tokens = kept + len(new) + said
    terminated, truncated, valid = line["end"]
    return ViewedStep(
        observation=tables["messages"][known.messages[-1]][1],
        text=line["text"],
        action=line["action"],
        reward=line["reward"],
        terminated=terminated,
        truncated=truncated,
        valid=valid,
        read=read,
        written=said,
        experiences=tuple(tables["experiences"][number] for number in numbers),
        scores=tuple(scores),
        candidates=tuple(line["candidates"] or ()),
        ranked=ranked,
        latent="memory" in line,
    )


def _id(path: Path, line: bytes) -> str:
    found = _ID.match(line)
    try:
        return str(json.loads(found[1]) if found else json.loads(line)["id"])
    except (ValueError, LookupError, TypeError) as error:
        raise RecordError(path, f"a line is damaged ({error}); remove the run folder and start anew") from error
