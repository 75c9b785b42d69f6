"""The matrix R[stage, domain] of a run on a terminal, and the figures read from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xplearn.metrics.continual import cell, final_retention
from xplearn.report.columns import Column, tables, telling
from xplearn.report.explained import explained

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from xplearn.metrics.bootstrap import Interval
    from xplearn.metrics.continual import Matrix
    from xplearn.record.reader import Run

FIGURES = {"final": "final", "average": "average", "forgetting": "forgetting", "bwt": "BWT", "fwt": "FWT"}
"""What is shown of an arm, and under which name."""

UNSIGNED = ("final", "average")

NONE = "–"


def render(run: Run, console: Console) -> None:
    """Print the matrix of each arm and its figures, for a run of several stages."""
    if len(run.stream()) < 2:
        return
    plain, experience = run.matrix("plain"), run.matrix("experience")
    found = pieces(plain, experience, console.width)
    for piece in found:
        console.print(piece)
    if found:
        names = [column.name for column in _read(plain, experience)]
        said = "score of each domain (0 to 100) before learning and after each stage"
        console.print(explained(names, said, "paired intervals over tasks" if names else ""), style="dim")


def pieces(plain: Matrix, experience: Matrix, width: int) -> list[RichTable]:
    """The matrices of the arms that were evaluated, then their figures, cut to the width between columns."""
    arms = [matrix for matrix in (plain, experience) if matrix.scores]
    found = [piece for matrix in arms for piece in _fit([_stages(matrix)], _domains(matrix), width)]
    if any(matrix.reached for matrix in arms):
        lead = Column("", tuple(standing(f"{matrix.arm} arm", matrix, ", {}") for matrix in arms))
        found += _fit([lead], _read(plain, experience), width)
    return found


def _read(plain: Matrix, experience: Matrix) -> list[Column]:
    """The figures that are read from the matrices."""
    arms = [matrix for matrix in (plain, experience) if matrix.scores]
    kept = [_retention(arms, final_retention(plain, experience))] if len(arms) > 1 else []
    return telling([*figures(arms), *kept], NONE) if any(matrix.reached for matrix in arms) else []


def _fit(leads: Sequence[Column], columns: Sequence[Column], width: int) -> list[RichTable]:
    return tables(columns, leads, [0] * len(leads[0].cells), width)


def _stages(matrix: Matrix) -> Column:
    """What each line of the matrix comes after; the domain is named where there are several."""
    several = len(matrix.domains) > 1
    lines = [f"after {stage}" + (f" {domain}" if several else "") for stage, domain in enumerate(matrix.stream, start=1)]
    return Column(f"{matrix.arm} arm", ("before", *lines))


def _domains(matrix: Matrix) -> list[Column]:
    return [Column(domain, tuple(map(cell, matrix.values[:, number]))) for number, domain in enumerate(matrix.domains)]


def standing(name: str, matrix: Matrix, joint: str = " ({})") -> str:
    """A name, and how far its matrix has come if not to the end."""
    stages = len(matrix.stream)
    return name + (joint.format(f"after {matrix.reached} of {stages}") if matrix.reached < stages else "")


def figures(matrices: Sequence[Matrix]) -> list[Column]:
    """A column for each continual figure, a line for each matrix."""
    found = [matrix.figures() for matrix in matrices]
    return [Column(shown, tuple(text(of[name], signed=name not in UNSIGNED) for of in found)) for name, shown in FIGURES.items()]


def _retention(arms: Sequence[Matrix], kept: Interval | None) -> Column:
    """On the line of the score that it is a part of."""
    return Column("retention %", tuple(text(kept if matrix.arm == "experience" else None) for matrix in arms))


def text(value: Interval | None, *, signed: bool = False) -> str:
    """An interval, or a dash where there is none."""
    return value.text(signed=signed) if value else NONE
