"""Runs as tables: what they cost, how they kept what they had learned, and in what their configurations differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

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
    purposes = [(purpose, arm) for purpose in get_args(Purpose) for arm in get_args(Arm)]
    purposes = [key for key in sorted(purposes, key=_order) if any(key in of for of in spendings.values())]
    if not purposes:
        return None
    columns = ["run", *(f"{purpose}, {arm}: {what}" for purpose, arm in purposes for what in ("tokens in", "tokens out", "seconds"))]
    rows: list[list[Cell]] = []
    for label, of in spendings.items():
        spent = [cell for key in purposes for cell in _spent(of, key)]
        rows.append([label, *spent, *_upkeep((kept or {}).get(label)), (stored or {}).get(label)])
    return _told(
        Sheet(
            name=name,
            title="Costs",
            caption="sums over a run; tokens in: read, of a growing conversation only what was new; seconds on the clock; bytes on disk",
            columns=[*columns, "writing the bank: seconds", "learning: seconds", "bank", "added", "reworded", "removed", "bank: bytes"],
            rows=rows,
        )
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
            "score 0 to 100 over the domains seen; forgetting: final minus best so far; BWT: final minus just after its stage; FWT: just "
            "before its stage minus before learning; intervals over tasks"
        ),
        columns=["run", "stages", *FIGURES.values()],
        rows=[
            [label, f"{matrices[label].reached} of {len(matrices[label].stream)}", *(figures[key] for key in FIGURES)]
            for label, figures in found.items()
        ],
        signed=[2 + at for at, key in enumerate(FIGURES) if key not in UNSIGNED],
    )


def config_sheet(resolved: Mapping[str, Mapping[str, Any]], *, name: str = "config-table") -> Sheet | None:
    """What differs between configurations: a row for each dotted path, a column for each run; None where there is no difference.

    Args:
        resolved: ``Header.resolved`` by name of the run.
        name: of the sheet.
    """
    flat = [dict(_leaves(config)) for config in resolved.values()]
    paths = dict.fromkeys(path for config in flat for path in config)
    rows = [[path, *(config.get(path) for config in flat)] for path in paths if len({config.get(path) for config in flat}) > 1]
    rows = [row for row in rows if row[0] not in _OWN]
    if not rows:
        return None
    return Sheet(
        name=name,
        title="What differs between the runs",
        caption="paths of the configuration whose values are not the same in every run; a dash where a run has no such path",
        columns=["path", *resolved],
        rows=rows,
    )


_OWN = ("run.name", "run.dir")
"""Differ between any two runs."""


def _order(key: tuple[Purpose, Arm]) -> tuple[int, int]:
    return get_args(Purpose).index(key[0]), ("plain", "experience").index(key[1])


def _spent(of: Spendings, key: tuple[Purpose, Arm]) -> list[Cell]:
    spent = of.get(key)
    return [None, None, None] if spent is None else [spent.tokens_in, spent.tokens_out, spent.seconds]


def _upkeep(kept: Upkeep | None) -> list[Cell]:
    if kept is None:
        return [None] * 6
    return [kept.record_seconds, kept.learner_seconds, kept.bank, kept.added, kept.changed, kept.removed]


def _told(sheet: Sheet) -> Sheet:
    """Without the columns that no row fills."""
    filled = [at for at in range(len(sheet.columns)) if any(row[at] is not None for row in sheet.rows)]
    columns, rows = [sheet.columns[at] for at in filled], [[row[at] for at in filled] for row in sheet.rows]
    return Sheet(name=sheet.name, title=sheet.title, caption=sheet.caption, columns=columns, rows=rows)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value by its dotted path, as JSON without quotes around text."""
    if isinstance(value, Mapping | list) and value:
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in items:
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, default=str)
