"""The checkpoints of a run as they lie on disk, as far as their banks go."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from xplearn.errors import RecordError
from xplearn.record.checked import conforms

SNAPSHOT = "bank.snapshot"
"""Name of the bank in a checkpoint."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A checkpoint of a run, as far as its bank goes."""

    number: int
    """Changes of the agent behind it."""
    stage: int | None
    """0-based, warm-up stages counted; None before the first change."""
    path: Path
    """The bank in it."""


def kept(checkpoints: Path) -> list[Kept]:
    """The checkpoints in a folder, in order. One that a run in progress drops meanwhile is left out.

    Raises:
        RecordError: one is damaged.
    """
    folders = checkpoints.iterdir() if checkpoints.is_dir() else ()
    numbered = sorted((int(path.name), path) for path in folders if path.name.isascii() and path.name.isdecimal())
    return [found for number, path in numbered if (found := _kept(number, path)) is not None]


def last_checkpoint(checkpoints: Path) -> Kept | None:
    """The last of ``kept``."""
    found = kept(checkpoints)
    return found[-1] if found else None


def _kept(number: int, folder: Path) -> Kept | None:
    path = folder / "position.json"
    try:
        change = json.loads(path.read_text(encoding="utf-8"))["change"]
        if not conforms(change, str):
            raise ValueError(f"change is {change!r}")
        _, _, where = change.partition("/")
        return Kept(number=number, stage=int(where.partition("/")[0]) if where else None, path=folder / SNAPSHOT)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RecordError(path, f"damaged ({error}); remove the run folder and start anew") from None
