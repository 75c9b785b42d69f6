"""What the sections of a page are made from, read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.report import compare
from xplearn.report.boards import boards
from xplearn.report.costs import Spendings, costs, stored

if TYPE_CHECKING:
    from xplearn.metrics.board import Board
    from xplearn.metrics.compare import Entry
    from xplearn.metrics.spending import Upkeep
    from xplearn.record.cross import Cross
    from xplearn.record.reader import Run
    from xplearn.reported import Reported
    from xplearn.types import EpisodeResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Runs, and what is known of them; every mapping is by the name that the page calls a run."""

    runs: Mapping[str, Run]
    results: Mapping[str, Sequence[EpisodeResult]]
    cross: Cross | None
    place: Path | None
    """Folder of the cross."""
    boards: Sequence[Board]
    refused: Sequence[tuple[str, str]]
    """Runs that have no place in any board, and why."""
    entries: Sequence[Entry]
    """Each arm of each run."""
    spendings: Mapping[str, Spendings]
    upkeeps: Mapping[str, Upkeep]
    stored: Mapping[str, int | None]
    """Bytes of each bank on disk."""
    reported: Sequence[Reported]
    """Figures of papers."""


def gather(
    runs: Sequence[Run], cross: Cross | None, place: Path | None, reported: Sequence[Reported], unread: Sequence[tuple[str, str]]
) -> Material:
    """Read what there is.

    Args:
        runs: finished or not.
        cross: they belong to.
        place: folder of the cross.
        reported: figures of papers.
        unread: folders that could not be read, and why.

    Raises:
        RecordError: a run is damaged.
    """
    named = dict(zip(compare.names(runs), runs, strict=True))
    results = {name: list(run.episodes()) for name, run in named.items()}
    spent = {name: costs(run, results[name]) for name, run in named.items()}
    found, found_apart = boards(runs, cross)
    return Material(
        runs=named,
        results=results,
        cross=cross,
        place=place,
        boards=found,
        refused=[*((refused.run, refused.reason) for refused in found_apart), *unread],
        entries=compare.entries(runs),
        spendings={name: spending for name, (spending, _) in spent.items()},
        upkeeps={name: upkeep for name, (_, upkeep) in spent.items()},
        stored={name: stored(run) for name, run in named.items()},
        reported=reported,
    )
