"""How it went: stages, rounds, what was studied, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from xplearn.metrics.seeds import averaged, pools
from xplearn.report import figures, sheets
from xplearn.report.figure import Piece, Section
from xplearn.report.learning import rounds
from xplearn.report.page.material import Material

if TYPE_CHECKING:
    from xplearn.metrics.continual import Matrix


def stages(material: Material) -> Section:
    """Runs of several stages: the matrix of each configuration and arm, and how scores of a domain went on."""
    matrices = {name: matrix for name, matrix in _matrices(material).items() if len(matrix.stream) > 1}
    maps = [figures.heatmap(matrix, title=name, name=f"heatmap-{number}") for number, (name, matrix) in enumerate(matrices.items(), 1)]
    return _section(
        "stages",
        "Stage by stage",
        "Scores of every domain before learning and after each stage: what one stage gives to the next, and what it takes.",
        [figures.forgetting(matrices), sheets.continual_sheet(matrices), *maps],
    )


def learning(material: Material) -> Section:
    """Training round by round."""
    found = {name: rounds(run, material.results[name]) for name, run in material.runs.items()}
    told = {name: run.explained() for name, run in material.runs.items()}
    return _section(
        "learning",
        "Learning",
        "Training scores are those of the rollouts that were learned from; nothing of them is in the leaderboard.",
        [figures.learning(found), figures.gain_and_bank(found), figures.coverage(told)],
    )


def spent(material: Material) -> Section:
    """What it cost."""
    given = material.spendings, material.upkeeps, material.stored
    return _section(
        "costs",
        "Costs",
        "Tokens read and written, seconds on the machine of the run, and bytes.",
        [figures.costs(*given), sheets.costs_sheet(*given)],
    )


def _matrices(material: Material) -> Mapping[str, Matrix]:
    """By configuration and arm where several seeds of one were run, else by run and arm."""
    pooled = {pool.label: averaged(pool.scores.values()) for pool in pools(material.entries)}
    return pooled or {entry.name: entry.matrix for entry in material.entries}


def _section(name: str, title: str, lead: str, drawn: Iterable[Piece | None]) -> Section:
    pieces = [piece for piece in drawn if piece is not None]
    return Section(name=name, title=title, lead=lead if pieces else "", pieces=pieces)
