"""Runs as tables: what they cost, and how they kept what they had learned."""

from __future__ import annotations

from collections.abc import Mapping

from xplearn.metrics.continual import Matrix
from xplearn.metrics.spending import Purpose, Upkeep
from xplearn.report.figure import Cell, Sheet
from xplearn.report.figures.spendings import Spendings
from xplearn.report.matrix import FIGURES, UNSIGNED
from xplearn.types import Arm


def costs_sheet(
    spendings: Mapping[str, Spendings],
    kept: Mapping[str, Upkeep] | None = None,
    stored: Mapping[str, int | None] | None = None,
    *,
    name: str = "costs-table",
) -> Sheet | None:
    """A row for each run: tokens and seconds by what they were for, and the upkeep of its bank; arguments as ``figures.costs``."""
    if not any(spendings.values()):
        return None
    sources = [_episodes(spendings[label]) | _upkeep((kept or {}).get(label), (stored or {}).get(label)) for label in spendings]
    columns = [column for column in sources[0] if any(found[column] is not None for found in sources)]
    return Sheet(
        name=name,
        title="Costs",
        caption=(
            "Sums over a run. Tokens: read and written, of a growing conversation only what was new, by arm; seconds of wall clock, in "
            f"which other work on the machine counts.{' Bank: experiences in it at the end.' if 'bank' in columns else ''}"
        ),
        columns=["run", *columns],
        rows=[[label, *(found[column] for column in columns)] for label, found in zip(spendings, sources, strict=True)],
    )


def continual_sheet(matrices: Mapping[str, Matrix], *, name: str = "continual-table") -> Sheet | None:
    """A row for each matrix: final and average score, forgetting, backward and forward transfer; None where none has two stages."""
    found = {label: matrix.figures() for label, matrix in matrices.items() if len(matrix.stream) > 1 and matrix.reached}
    if not found:
        return None
    return Sheet(
        name=name,
        title="Continual learning",
        caption=(
            "Score, 0 to 100, over the domains seen. Forgetting: final minus best so far; BWT: final minus just after its stage; FWT: just "
            "before its stage minus before learning. Intervals over tasks."
        ),
        columns=["run", "stages", *FIGURES.values()],
        rows=[
            [label, f"{matrices[label].reached} of {len(matrices[label].stream)}", *(figures[key] for key in FIGURES)]
            for label, figures in found.items()
        ],
        signed=[2 + at for at, key in enumerate(FIGURES) if key not in UNSIGNED],
    )


def _episodes(of: Spendings) -> dict[str, Cell]:
    """Tokens of training and evaluation by arm, then the seconds of all episodes."""
    purposes: tuple[Purpose, ...] = ("training", "evaluation")
    arms: tuple[Arm, ...] = ("plain", "experience")
    tokens: dict[str, Cell] = {
        f"{purpose} tokens, {arm}": spent.tokens_in + spent.tokens_out if (spent := of.get((purpose, arm))) else None
        for purpose in purposes
        for arm in arms
    }
    return tokens | {"episodes, s": sum(spent.seconds for spent in of.values())}


def _upkeep(kept: Upkeep | None, stored: int | None) -> dict[str, Cell]:
    return {
        "writing, s": kept.record_seconds if kept is not None else None,
        "learning, s": kept.learner_seconds if kept is not None else None,
        "bank": kept.bank if kept is not None else None,
        "on disk, kB": None if stored is None else stored / 1000,
        "added": kept.added if kept is not None else None,
        "reworded": kept.changed if kept is not None else None,
        "removed": kept.removed if kept is not None else None,
        "rounds that wrote": f"{kept.rounds_written} of {kept.rounds}" if kept is not None and kept.rounds_written is not None else None,
    }
