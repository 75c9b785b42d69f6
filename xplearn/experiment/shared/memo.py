"""The folder that holds shared work, found by what went into it."""

from __future__ import annotations

from pathlib import Path


class Shared:
    """Work that any number of runs share, at the same time if they like.

    Args:
        folder: where it is kept; made when something is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
