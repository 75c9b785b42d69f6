"""A run that many parts of a page ask for the same: what it says is read once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from xplearn.metrics.continual import Matrix
from xplearn.record.folder import RunFolder
from xplearn.record.reader import Run
from xplearn.types import Arm, EpisodeResult


class Once(Run):
    """A run as it was when it was first asked, though it may go on meanwhile."""

    def __init__(self, run: Run) -> None:
        super().__init__(RunFolder(run.path), run.header)
        self._matrices: dict[Arm, Matrix] = {}

    @cached_property
    def results(self) -> list[EpisodeResult]:
        """The scalars of every finished episode."""
        return list(super().episodes())

    def episodes(self) -> Iterator[EpisodeResult]:
        """As ``Run.episodes``."""
        return iter(self.results)

    @cached_property
    def studies(self) -> list[tuple[int, int, dict[str, Any]]]:
        """What the curriculum said of each of its choices."""
        return super().explained()

    def explained(self) -> list[tuple[int, int, dict[str, Any]]]:
        """As ``Run.explained``."""
        return self.studies

    def matrix(self, arm: Arm) -> Matrix:
        """As ``Run.matrix``."""
        if arm not in self._matrices:
            self._matrices[arm] = super().matrix(arm)
        return self._matrices[arm]
