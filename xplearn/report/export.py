"""Figures and sheets as files for papers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from xplearn.report.figure import Figure, Sheet


def write_figures(figures: Sequence[Figure], folder: Path, formats: Collection[str] = ("svg",)) -> list[Path]:
    """Write each figure as ``<name>.svg`` and ``<name>.png``, light, standing alone, atomically.

    Raises:
        ConfigError: there is no such format, or two figures have one name.
        XplearnError: PNG is asked for and ``xplearn[report]`` is not installed, or no font was found to draw text with.
    """
    return []


def write_sheets(sheets: Sequence[Sheet], folder: Path, formats: Collection[str] = ("md", "csv", "tex")) -> list[Path]:
    """Write each sheet as ``<name>.md``, ``<name>.csv`` and ``<name>.tex``, atomically.

    Raises:
        ConfigError: there is no such format, or two sheets have one name.
    """
    return []
