"""How it went: stages, rounds, what was studied, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from xplearn.metrics.seeds import averaged, pools
from xplearn.report import figures, sheets
from xplearn.report.figure import Figure, Piece, Section
from xplearn.report.figures.multiples import several
from xplearn.report.learning import rounds
from xplearn.report.page.material import Material
from xplearn.report.page.places import names, placed
from xplearn.report.slugs import slugs

if TYPE_CHECKING:
    from xplearn.metrics.continual import Matrix

SHORT = 8
"""Rows of a table that is not folded away."""


def stages(material: Material) -> Section:
    """Runs of several stages: the matrix of each configuration and arm, and how scores of a domain went on."""
    matrices = {name: matrix for name, matrix in _matrices(material).items() if len(matrix.stream) > 1}
    maps = [
        figures.heatmap(matrix, title=f"R matrix: {name}", name=f"heatmap-{slug}")
        for slug, (name, matrix) in zip(slugs(list(matrices)), matrices.items(), strict=True)
    ]
    return _section(
        "stages",
        "Stage by stage",
        "Scores of every domain before learning and after each stage: what one stage gives to the next, and what it takes.",
        [figures.forgetting(matrices), sheets.continual_sheet(matrices), *maps],
    )


def learning(material: Material) -> Section:
    """Training round by round."""
    found = placed({name: rounds(run, material.results[name]) for name, run in material.runs.items()}, material.places)
    explained = placed({name: run.explained() for name, run in material.runs.items()}, material.places)
    named = names(material.places.values())
    return _section(
        "learning",
        "Learning",
        "Training scores are those of the rollouts that were learned from; nothing of them is in the leaderboard.",
        [figures.learning(found, names=named), figures.gain_and_bank(found, names=named), figures.coverage(explained, names=named)],
    )


def spent(material: Material) -> Section:
    """What it cost."""
    given = material.spendings, material.upkeeps, material.stored
    table = sheets.costs_sheet(*given)
    return _section(
        "costs",
        "Costs",
        "Tokens read and written, bytes, and seconds of wall clock: other work on the machine counts in them.",
        [*_costs(material), table],
        [table.name] if table and len(table.rows) > SHORT else [],
    )


def _costs(material: Material) -> list[Figure | None]:
    """A figure for each of the things that configurations were evaluated on, where there are several."""
    found = {
        name: figures.Cost(spent=spent, kept=material.upkeeps[name], stored=material.stored[name])
        for name, spent in material.spendings.items()
    }
    table = placed(found, material.places)
    if not several(table):
        called = names(material.places.values())
        return [figures.costs({called[row, column]: seeds for row, cells in table.items() for column, seeds in cells.items()})]
    by_column: dict[str, dict[str, list[figures.Cost]]] = {}
    for row, cells in table.items():
        for column, seeds in cells.items():
            by_column.setdefault(column, {})[row] = seeds
    named = zip(slugs(list(by_column)), by_column.items(), strict=True)
    return [figures.costs(of, title=column, name=f"costs-{slug}") for slug, (column, of) in named]


def _matrices(material: Material) -> Mapping[str, Matrix]:
    """By configuration and arm where several seeds of one were run, else by run and arm."""
    pooled = {pool.label: averaged(pool.scores.values()) for pool in pools(material.entries)}
    return pooled or {entry.name: entry.matrix for entry in material.entries}


def _section(name: str, title: str, lead: str, drawn: Iterable[Piece | None], aside: Iterable[str] = ()) -> Section:
    pieces = [piece for piece in drawn if piece is not None]
    return Section(name=name, title=title, lead=lead if pieces else "", pieces=pieces, aside=list(aside))
