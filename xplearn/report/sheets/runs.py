"""Runs as tables: what they cost, how they kept what they had learned, and in what their configurations differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

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
        caption="Sums over a run. Tokens: read and written, of a growing conversation only what was new; seconds on the clock.",
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
        caption="Paths of the configuration whose values are not the same in every run; a dash where a run has no such path.",
        columns=["path", *resolved],
        rows=rows,
    )


_OWN = ("run.name", "run.dir")
"""Differ between any two runs."""


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
        "writing the bank, s": kept.record_seconds if kept is not None else None,
        "learning, s": kept.learner_seconds if kept is not None else None,
        "bank": kept.bank if kept is not None else None,
        "on disk, kB": None if stored is None else stored / 1000,
        "added": kept.added if kept is not None else None,
        "reworded": kept.changed if kept is not None else None,
        "removed": kept.removed if kept is not None else None,
        "rounds that wrote": f"{kept.rounds_written} of {kept.rounds}" if kept is not None and kept.rounds_written is not None else None,
    }


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every value by its dotted path, as JSON without quotes around text."""
    if isinstance(value, Mapping | list) and value:
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in items:
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, default=str)
