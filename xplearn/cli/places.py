"""Folders that a command is given: whether they are there, and what was meant where they are not."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from xplearn.errors import RecordError, nearest
from xplearn.report.printable import printable

CROSS = "cross.json"

RECORDS = ("run.json", CROSS)
"""What the folder of a run, or of a cross, holds."""

WAIT_SECONDS = 60.0
"""Until a run or cross that is just being started has made its folder."""


def present(folder: Path, command: str) -> Path:
    """The folder, if there is one.

    Raises:
        RecordError: there is none, with the nearest name beside it; or it is a file, with the folder that holds it.
    """
    if folder.is_dir():
        return folder
    if folder.exists():
        home = next((above for above in folder.parents if _recorded(above)), None)
        mend = (
            "give the folder that 'xplearn run' or 'xplearn cross' made" if home is None else f"name its folder: xplearn {command} {home}"
        )
        raise RecordError(folder, f"is a file; {mend}")
    raise RecordError(folder, f"no such folder{_meant(folder)}")


def all_present(given: Sequence[Path], command: str) -> list[Path]:
    """The folders, if all of them are there; of several, what ``CROSS/*`` takes along beside the runs of a cross is left out.

    Raises:
        RecordError: as ``present``.
    """
    runs = [path for path in given if not ((path.parent / CROSS).exists() and path.exists() and not _recorded(path))]
    return [present(path, command) for path in (runs if len(given) > 1 and runs else given)]


def wait_for(folder: Path) -> None:
    """Wait for what a process that was just started will record in a folder, which need not be there yet."""
    from xplearn.record.following import held

    until = time.monotonic() + WAIT_SECONDS
    if _awaited(folder):
        print(printable(f"waiting for {folder}{_meant(folder)} (Ctrl-C leaves) …"), file=sys.stderr, flush=True)
    # Asking who holds a lock takes it for a moment, and would turn away a process that begins: only late, and at last.
    while _awaited(folder) and (time.monotonic() < until or held(folder)):
        time.sleep(0.2)


def _awaited(folder: Path) -> bool:
    """Whether nothing is recorded there yet, and may be soon: a process takes the lock first."""
    if _recorded(folder):
        return False
    return not folder.exists() or (folder / "lock").exists() or (folder.is_dir() and not any(folder.iterdir()))


def _recorded(folder: Path) -> bool:
    return any((folder / name).exists() for name in RECORDS)


def _meant(folder: Path) -> str:
    """A question after the folder with the most similar name beside one that is not there, or below ``runs``."""
    if folder.exists():
        return ""
    places = [folder.parent, Path("runs")] if len(folder.parts) == 1 else [folder.parent]
    there = {child.name: child for place in reversed(places) if place.is_dir() for child in sorted(place.iterdir()) if child.is_dir()}
    found = nearest(folder.name, [name for name in there if not name.startswith(".")])
    return f"; did you mean '{there[found]}'?" if found else ""
