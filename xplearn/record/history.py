"""``history.jsonl``: what happened to the bank, change by change, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xplearn.record.checked import checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that happened to one experience: one line of ``history.jsonl``."""

    number: int
    """Of the change of the agent it belongs to, as its checkpoint counts."""
    stage: int
    """0-based, warm-up stages counted."""
    round: int
    """0-based, within the stage."""
    learner: str
    """Path in the configuration of the learner that did it, e.g. ``record.0``."""
    name: str
    """Its registered name."""
    policy_version: int
    """Updates of the policy behind it when the learner had learned."""
    event: str
    """``added``, ``changed`` and ``removed`` are found by comparing the bank; other words are the learner's own."""
    id: str
    """Of the experience; empty where none came to be."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """JSON values by name. Text in them is data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What one call of a learner cost, and what bank it left where it wrote."""

    stage: int
    round: int
    learner: str
    name: str
    policy_version: int
    seconds: float
    """Wall time of the call."""
    bank: int | None = None
    """Entries of the bank; None where the call wrote nothing."""
    bank_bytes: int | None = None
    """Bytes of their keys and contents (UTF-8) and of all vectors (float32)."""
    unsourced: int | None = None
    """Entries that name no source task: whether they come from an evaluated one cannot be checked."""


WHOSE = ("stage", "round", "learner", "name", "policy_version")
"""Keys of a line of figures that say whose they are."""

RESERVED = frozenset({"number", "call", *WHOSE})
"""Keys of a line of figures that no figure may be called."""


def load_note(line: str) -> Note:
    """One line of ``history.jsonl``.

    Raises:
        ValueError: a field is missing, unknown or of a wrong type.
    """
    return checked(Note, json.loads(line))


def load_call(line: str) -> Call | None:
    """The cost in one line of ``metrics.jsonl``; None in one that was written before costs were.

    Raises:
        ValueError: a field is missing, unknown or of a wrong type.
    """
    raw = json.loads(line)
    if "call" not in raw:
        return None
    return checked(Call, {"bank": None, "bank_bytes": None, "unsourced": None, **raw["call"], **{name: raw[name] for name in WHOSE}})


def number_of(line: str) -> int:
    """The change that a line of ``history.jsonl`` or ``metrics.jsonl`` belongs to; 0 in one without, which is older."""
    raw = json.loads(line)
    number = raw.get("number", 0)
    if not isinstance(number, int):
        raise TypeError(f"number is {number!r}")
    return number
