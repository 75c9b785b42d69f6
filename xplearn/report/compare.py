"""Several runs on a terminal, side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from xplearn.metrics.compare import Entry, Group, groups, spreads, versus_first
from xplearn.metrics.digits import tenths
from xplearn.record.comparable import alike, bootstrap, otherwise
from xplearn.record.folder import UNHASHED
from xplearn.report import costs, seeds
from xplearn.report import text as table
from xplearn.report.columns import Column, tables, telling
from xplearn.report.explained import explained
from xplearn.report.matrix import NONE, figures, standing, text
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from xplearn.record.reader import Run


def render(runs: Sequence[Run], console: Console) -> None:
    """Print what runs scored at every point, in both arms, and the figures of continual learning.

    Raises:
        RecordError: they may not stand in one table (``record.comparable``).
    """
    _, problem = alike(runs)
    if problem is not None:
        raise problem
    found, called = entries(runs), names(runs)
    lines, finals = _scores(groups(found)), _figures(found)
    for drawn in filter(None, (lines, finals)):
        for piece in drawn.pieces(console.width):
            console.print(piece)
    for arm, group, spread in spreads(found):
        those, each = ", ".join(entry.run for entry in group), ", ".join(tenths(value) for value in spread.finals)
        disparity = ", ".join(f"{domain} {tenths(value)}" for domain, value in spread.disparity.items())
        console.print(
            f"orders of one stream ({those}), {arm} arm: final {each}; mean {tenths(spread.mean)}, deviation {tenths(spread.deviation)}; "
            f"largest minus smallest by domain: {disparity}",
            markup=False,
        )
    console.print(_caption(found, [column.name for drawn in filter(None, (lines, finals)) for column in drawn.columns]), style="dim")
    for line in otherwise(dict(zip(called, runs, strict=True))):
        console.print(printable(f"evaluated otherwise: {line}"), markup=False, soft_wrap=True)
    results = [list(run.episodes()) for run in runs]
    seeds.render(found, dict(zip(called, zip(runs, results, strict=True), strict=True)), console)
    for piece in costs.compared(called, runs, results, console.width):
        console.print(piece)
    for run in runs:
        if run.header.status != "finished" or run.missing():
            console.print(printable(f"{run.path.name}: {table.standing(run)}"), markup=False)
        for line in run.header.warnings:
            console.print(printable(f"{run.path.name}: warning: {line}"), markup=False, soft_wrap=True)


class _Drawn(NamedTuple):
    """A table before its width is known."""

    leads: Sequence[Column]
    columns: Sequence[Column]
    sections: Sequence[int]

    def pieces(self, width: int) -> list[RichTable]:
        return tables(self.columns, self.leads, self.sections, width)


def names(runs: Sequence[Run]) -> list[str]:
    """What to call each: by its name; by its folder where names repeat, by its path where folders do."""
    ways = [[_title(run) for run in runs], [run.path.name for run in runs], [str(run.path) for run in runs]]
    found = [
        next((name for name, others in zip(given, ways, strict=True) if others.count(name) == 1), given[-1])
        for given in zip(*ways, strict=True)
    ]
    return list(map(printable, found))


def entries(runs: Sequence[Run]) -> list[Entry]:
    """Each arm that was evaluated, of each run."""
    found, drawn = [], bootstrap(runs)
    for run, name in zip(runs, names(runs), strict=True):
        arms = [matrix for matrix in (run.matrix("plain"), run.matrix("experience")) if matrix.scores]
        shared = partial(
            Entry,
            run=name,
            alone=len(arms) == 1,
            method=_method(run),
            start=_start(run),
            configuration=json.dumps(_settings(run, "name", "seed"), sort_keys=True),
            title=printable(_title(run)),
            seed=run.header.seed,
        )
        found += [shared(matrix=replace(matrix, bootstrap=drawn)) for matrix in arms]
    return found


def _title(run: Run) -> str:
    return str(run.header.resolved["run"]["name"])


def _settings(run: Run, *left_out: str) -> dict[str, Any]:
    """The run's configuration without its place, and without some keys of ``run``."""
    resolved = run.header.resolved
    return {**resolved, "run": {key: value for key, value in resolved["run"].items() if key not in (*left_out, *UNHASHED)}}


def _method(run: Run) -> str:
    """The run's configuration without its name, its place, and the order of its stages."""
    settings = _settings(run, "name")
    return json.dumps({**settings, "stream": sorted(json.dumps(stage, sort_keys=True) for stage in settings["stream"])}, sort_keys=True)


def _start(run: Run) -> str:
    """What the policy does before learning depends on: itself, seed, warm-up with its learners and what those see, how it is evaluated."""
    resolved = run.header.resolved
    warmups = [stage for stage in resolved["stream"] if stage["warmup"]]
    evaluate = {key: value for key, value in resolved["evaluate"].items() if key not in ("arms", "before")}
    acts = [resolved["policy"], resolved["run"]["seed"], resolved["run"]["max_steps"], evaluate]
    learners = resolved.get("warmup") or resolved["learner"]
    seen = [resolved[part] for part in ("encoder", "store", "record", "selector", "conditioner", "sampling")]
    return json.dumps([*acts, warmups, [learners, *seen] if warmups else []], sort_keys=True)


def _caption(found: Sequence[Entry], names: Sequence[str]) -> str:
    paired = [name for name in dict.fromkeys(names) if name.startswith("vs ")]
    return explained(
        names,
        "score 0 to 100 with bootstrap interval over tasks",
        f"{' and '.join(paired)} paired on the same tasks" if paired else "",
        "+Harness: the bank is shown" if any(entry.matrix.arm == "experience" for entry in found) else "",
    )


def _scores(found: Sequence[Group]) -> _Drawn:
    lines = [line for group in found for line in group.lines]
    sections = [number for number, group in enumerate(found) for _ in group.lines]
    leads = [Column("", tuple(line.label for line in lines))]
    domains = list(dict.fromkeys(domain for line in lines for domain in line.scores))
    columns = []
    for domain in domains:
        columns.append(Column(domain, tuple(text(line.scores.get(domain)) for line in lines)))
        columns.append(Column("vs Base", tuple(text(line.versus_base.get(domain), signed=True) for line in lines)))
        if any(line.retention for line in lines):
            columns.append(Column("retention %", tuple(text(line.retention.get(domain)) for line in lines)))
    return _Drawn(leads, telling(columns, NONE), sections)


def _figures(found: Sequence[Entry]) -> _Drawn | None:
    reached = [entry for entry in found if entry.matrix.reached]
    if not reached:
        return None
    leads = [Column("", tuple(standing(entry.name, entry.matrix) for entry in reached))]
    differences = tuple(text(value, signed=True) for value in versus_first(reached))
    columns = figures([entry.matrix for entry in reached])
    columns.insert(1, Column(f"vs {reached[0].name}", differences))
    return _Drawn(leads, telling(columns, NONE), [0] * len(reached))
