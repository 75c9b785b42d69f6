"""``run.json``: the versioned header of a run, apart from its episodes."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from xplearn.errors import RecordError
from xplearn.files import replacing
from xplearn.record.checked import checked, conforms
from xplearn.types import Task

FORMAT = 1
"""Grows with every change that an older xplearn could not read."""

_RESOLVED = {
    "run": dict[str, Any],
    "run.name": str,
    "stream": list[dict[str, Any]],
    "evaluate.confidence": float,
    "evaluate.resamples": int,
    "learner": list[Any],
}
"""What every configuration holds."""

Status = Literal["running", "finished", "interrupted", "failed"]


@dataclass(kw_only=True)
class Header:
    """Everything about a run but its episodes."""

    format: int = FORMAT
    status: Status = "running"
    """``running`` in a folder that no process holds means that it was killed."""
    error: str | None = None
    """Why it failed."""
    started: str = ""
    """UTC, ISO 8601."""
    config: dict[str, Any] = field(default_factory=dict)
    """As the user gave it."""
    resolved: dict[str, Any] = field(default_factory=dict)
    """With every default filled in."""
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name and every field of each part, by its path in the configuration."""
    packages: dict[str, str] = field(default_factory=dict)
    """Versions of Python and of the packages that can change a result."""
    computing: dict[str, str | int] = field(default_factory=dict)
    """What the policy last computed with, e.g. device, number format, threads: to be compared first where equal configurations differ."""
    plugins: dict[str, str] = field(default_factory=dict)
    """Distribution and version by plugin."""
    git: dict[str, Any] | None = None
    """Commit, and whether the checkout had changes; None outside a checkout."""
    environments: dict[str, str] = field(default_factory=dict)
    """``Environment.version`` by domain."""
    panels: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Size and hash of the evaluated tasks by domain."""
    bank: dict[str, dict[str, str]] = field(default_factory=dict)
    """Digest of the bank ``before`` and ``after`` each evaluation point: equal, or the run has failed."""
    encoder: str = ""
    """``Encoder.id``, where the bank has vectors of it; empty where nothing was encoded, so that no figure depends on it."""
    warnings: list[str] = field(default_factory=list)
    """What a reader of its figures must know, as it was told while the run went on: e.g. tasks that are both learned from and evaluated.
    Left out of the file where there is nothing, as an older xplearn knows no such key."""
    seed: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    """Read (``in``) and written (``out``) over all episodes."""
    seconds: float = 0.0
    """Over all episodes."""
    results: list[dict[str, Any]] = field(default_factory=list)
    """Rows of the table, once finished."""

    def write(self, path: Path) -> None:
        """Replace the file, atomically."""
        raw = dataclasses.asdict(self)
        if not self.warnings:
            del raw["warnings"]
        with replacing(path) as file:
            file.write((json.dumps(raw, indent=1, default=str) + "\n").encode())


def read_header(path: Path) -> Header:
    """The header in a file.

    Raises:
        RecordError: there is none, it is damaged, or a newer xplearn wrote it.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RecordError(path.parent, "not a run folder: it has no run.json; give the folder that 'xplearn run' made") from None
    except (OSError, ValueError) as error:
        raise RecordError(path, f"damaged ({error}); remove the run folder and start anew") from None
    if not isinstance(raw, dict) or not conforms(raw.get("format"), int):
        raise RecordError(path, "damaged (it has no format number); remove the run folder and start anew")
    if raw["format"] > FORMAT:
        raise RecordError(
            path, f"written by a newer xplearn (format {raw['format']}, this one reads up to {FORMAT}): pip install -U xplearn"
        )
    known = {item.name for item in dataclasses.fields(Header)}
    if raw.keys() - known:
        unknown = ", ".join(sorted(raw.keys() - known))
        raise RecordError(
            path, f"has keys that this xplearn does not know ({unknown}): a newer one wrote it (pip install -U xplearn), or it is damaged"
        )
    try:
        header = checked(Header, {"warnings": [], "computing": {}, **raw})
        _require_readable(header)
    except ValueError as error:
        raise RecordError(path, f"damaged ({error}); remove the run folder and start anew") from None
    return header


def _require_readable(header: Header) -> None:
    """Raise ``ValueError`` unless the configuration has what a folder's name and table are made of."""
    if header.format < 1:
        raise ValueError(f"format is {header.format}")
    for path, hint in _RESOLVED.items():
        value: Any = header.resolved
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if not conforms(value, hint):
            raise ValueError(f"resolved has no sound '{path}'")
    if not all(
        conforms(stage.get("warmup"), bool) and conforms(stage.get("env", {}), dict[str, Any]) for stage in header.resolved["stream"]
    ):
        raise ValueError("resolved has no sound 'stream'")
    evaluate = header.resolved["evaluate"]
    if not (0.5 <= evaluate["confidence"] < 1 and evaluate["resamples"] > 0 and conforms(evaluate.get("replicas", 1), int)):
        raise ValueError("resolved has no sound 'evaluate'")
    if not all(conforms(found.get("tasks", 0), int) for found in header.panels.values()):
        raise ValueError("panels have no sound 'tasks'")
    if not all(conforms(row.get("n", 0), int) for row in header.results):
        raise ValueError("results have no sound 'n'")


def panel(tasks: Iterable[Task]) -> dict[str, Any]:
    """Size and hash of a list of tasks."""
    ids = [(task.env, task.split, task.id) for task in tasks]
    return {"tasks": len(ids), "hash": hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16]}


def in_words(found: Any) -> str:
    """A version, or a panel, as messages name it."""
    return ", ".join(f"{key} {value}" for key, value in found.items()) if isinstance(found, Mapping) else str(found)


def require_comparable(path: object, recorded: Mapping[str, Any], current: Mapping[str, Any], what: str) -> None:
    """Refuse to go on with a run in another version of an environment, or on another panel.

    Args:
        path: of the run that recorded ``recorded``.
        recorded: by domain.
        current: what it is to go on with.
        what: is compared.

    Raises:
        RecordError: a domain that both name differs; both sides are in the message.
    """
    for domain in sorted(recorded.keys() & current.keys()):
        before, now = recorded[domain], current[domain]
        if before != now:
            raise RecordError(
                path,
                f"its {what} of '{domain}' is {in_words(before)}, now it is {in_words(now)}: figures of the two must not stand in one"
                " table. Start anew with another run.name",
            )
