"""``cross.json``: which cells a cross has, and where each one's run lies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from xplearn.errors import RecordError
from xplearn.files import replacing
from xplearn.record.checked import checked

FORMAT = 1
"""Grows with every change that an older xplearn could not read."""

State = Literal["waiting", "running", "finished", "failed", "unsound", "same"]
"""``waiting``: not begun, or not ended, as the budget or a person ended the cross before; ``same``: its experiment is that of an earlier
cell."""

_AGAIN = "remove this file and repeat the command that made it, its runs are kept"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One combination of the axes' values."""

    id: str
    """Its labels joined, unique within the cross."""
    axes: dict[str, str]
    """Label of its value by axis, in the order of the axes."""
    state: State = "waiting"
    reason: str = ""
    """Why it is unsound or failed, or the id of the cell that it is the same as."""
    run: str = ""
    """Name of its run's folder in that of the cross; empty where it has none."""
    seconds: float = 0.0
    """Time its run took on the clock, as far as it was not killed."""

    def __post_init__(self) -> None:
        if self.run and (Path(self.run).name != self.run or self.run == ".."):
            raise ValueError(f"run '{self.run[:80]}' is no folder in that of the cross")


@dataclass(kw_only=True)
class Cross:
    """A cross, finished or not."""

    format: int = FORMAT
    name: str = "cross"
    given: dict[str, Any] = field(default_factory=dict)
    """The file as it was given."""
    axes: dict[str, list[str]] = field(default_factory=dict)
    """Labels by axis, in order."""
    cells: list[Cell] = field(default_factory=list)
    """In the order of the grid: the last axis varies fastest."""

    @property
    def column(self) -> str:
        """The axis that tables have side by side: that of the stream, by its name or as each of its values says one; else the last."""
        given = self.given.get("axes")
        values = {axis: _listed(given.get(axis)) for axis in self.axes} if isinstance(given, dict) else {}
        streams = (axis for axis, found in values.items() if found and all(isinstance(value, dict) and STREAM in value for value in found))
        return STREAM if STREAM in self.axes else next(streams, list(self.axes)[-1] if self.axes else "")

    def write(self, folder: Path) -> None:
        """Replace the file, atomically."""
        with replacing(folder / NAME) as file:
            file.write((json.dumps(dataclasses.asdict(self), indent=1) + "\n").encode())


NAME = "cross.json"
STREAM = "stream"


def _listed(values: Any) -> list[Any]:
    return list(values.values()) if isinstance(values, dict) else values if isinstance(values, list) else []


def load_cross(folder: Path) -> Cross:
    """Read the cross in a folder.

    Raises:
        RecordError: there is none, it is damaged, or a newer xplearn wrote it.
    """
    path = folder / NAME
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise RecordError(folder, f"not the folder of a cross: it has no {NAME}; give the folder that 'xplearn cross' made") from None
    except (OSError, ValueError) as error:
        raise RecordError(path, f"damaged ({error}); {_AGAIN}") from None
    if isinstance(raw, dict) and isinstance(raw.get("format"), int) and raw["format"] > FORMAT:
        raise RecordError(
            path, f"written by a newer xplearn (format {raw['format']}, this one reads up to {FORMAT}): pip install -U xplearn"
        )
    return _checked(path, raw)


def _checked(path: Path, raw: Mapping[str, Any]) -> Cross:
    try:
        cross = checked(Cross, {**raw, "cells": [checked(Cell, cell) for cell in raw["cells"]]})
        _require_sound(cross)
        return cross
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(path, f"damaged ({error}); {_AGAIN}") from None


def _require_sound(cross: Cross) -> None:
    """Raise ``ValueError`` unless every cell is there once and stands on the axes."""
    if cross.format < 1:
        raise ValueError(f"format is {cross.format}")
    if len({cell.id for cell in cross.cells}) < len(cross.cells):
        raise ValueError("a cell is there twice")
    for cell in cross.cells:
        if list(cell.axes) != list(cross.axes) or any(label not in cross.axes[axis] for axis, label in cell.axes.items()):
            raise ValueError(f"cell '{cell.id[:80]}' has labels that the axes have not")
