"""Running one cell, whatever becomes of it."""

from __future__ import annotations

import errno
import traceback
from dataclasses import dataclass
from pathlib import Path

from xplearn.compose import Raw
from xplearn.config import load_experiment
from xplearn.errors import XplearnError
from xplearn.experiment.cross.planned import in_a_line
from xplearn.experiment.observer import Observer
from xplearn.experiment.run import run_experiment
from xplearn.experiment.shared import Shared
from xplearn.plugins import Plugins

SHARED = "shared"
"""Folder in that of the cross for the work that its cells have in common."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a cell ended."""

    reason: str = ""
    """Why it failed, on one line; empty where it is finished."""
    full: bool = False
    """Whether it failed because the disk is full: so would every other."""
    taken: str = ""
    """What of it other cells had done before, in words; empty where nothing."""


def run_cell(given: Raw, folder: Path, plugins: Plugins, observer: Observer) -> Outcome:
    """Run the experiment of a cell, or go on with it, in a folder in that of its cross."""
    try:
        experiment, _ = load_experiment(given, [], plugins.registry)
        shared = Shared(folder.parent / SHARED)
        result = run_experiment(experiment, plugins=plugins, given=given, folder=folder, observer=observer, shared=shared)
    except (Exception, SystemExit) as error:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        return Outcome(reason=_reason(error), full=full)
    return Outcome(taken=result.taken)


def _reason(error: BaseException) -> str:
    """What an error says; one that nobody raised on purpose, with where it was raised."""
    if isinstance(error, XplearnError):
        return in_a_line(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {in_a_line(error)}{where}"
