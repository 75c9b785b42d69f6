"""The table of a run on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn.metrics.digits import tenths
from xplearn.metrics.table import POOLED
from xplearn.report import costs, curve, learning, matrix
from xplearn.report.columns import Column, draw, fitted, left_out, pack
from xplearn.report.columns import tables as columns_as_tables
from xplearn.report.explained import explained
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from xplearn.metrics.bootstrap import Interval
    from xplearn.metrics.table import Row, Table
    from xplearn.record.reader import Run

COLUMNS = (
    "",
    "domain",
    "n",
    "score",
    "success",
    "out of steps",
    "failed",
    "vs Base",
    "vs plain",
    "retention %",
    "tokens in",
    "tokens out",
    "seconds",
)
SPARE = ("seconds", "tokens out", "tokens in")
"""Columns that a narrow terminal can do without, the first before the others: what all episodes took stands below."""
PAIRED = {"vs Base": "versus_base", "vs plain": "versus_plain"}
"""Columns of differences, and where a row has them."""
MOST_KINDS = 8
"""Kinds of task that still fit on a terminal side by side."""


def render(run: Run, console: Console) -> None:
    """Print the table of a run, finished or not."""
    table = run.table()
    console.print(printable(heading(run)), markup=False)
    if table.rows:
        for piece in tables(table, console.width):
            console.print(piece)
        console.print(caption(table, console.width), style="dim")
    for line in run.header.warnings:
        console.print(printable(f"warning: {line}"), markup=False)
    matrix.render(run, console)
    results = list(run.episodes())
    learning.render(run, results, console)
    curve.render(run, console)
    costs.render(run, results, console)
    if run.header.status != "finished" or run.missing():
        console.print(printable(standing(run)), markup=False)


def heading(run: Run) -> str:
    """What was run, in one line."""
    header, parts = run.header, run.header.parts
    policy = parts.get("policy", {})
    named = " ".join(str(policy[key]) for key in ("name", "model") if policy.get(key))
    learners = ", ".join(part["name"] for path, part in parts.items() if path.startswith("learner.")) or "no learner"
    stores = f"{parts.get('selector', {}).get('name', '')} + {parts.get('conditioner', {}).get('name', '')}"
    split = header.resolved.get("evaluate", {}).get("tasks", {}).get("split", "")
    domains = ", ".join(f"{name} ({panel['tasks']} {split} tasks)" for name, panel in header.panels.items())
    return f"{run.path.name}: {named}, {learners}, {stores}; on {domains}; seed {header.seed}, started {header.started}"


def standing(run: Run) -> str:
    """How far a run that is not finished has come, and why it failed; or what is gone of one that was."""
    if run.header.status == "finished":
        return f"{run.path} has lost part of its record: {run.missing()} evaluated episodes are missing from episodes.jsonl"
    episodes = list(run.episodes())
    last = f"; last in {episodes[-1].phase}" if episodes else ""
    goes_on = "" if run.header.status == "running" else "; the same command goes on with it"
    why = f"; it failed: {run.header.error}" if run.header.error else ""
    return f"this run is not finished (status: {run.header.status}, {len(episodes)} episodes so far{last}){goes_on}{why}"


def tables(table: Table, width: int) -> list[RichTable]:
    """The table, then scores and what they cost in tokens by kind of task where kinds are few, in pieces that fit the width."""
    return [*rows(table, width), *by_kind(table, width)]


def rows(table: Table, width: int) -> list[RichTable]:
    """The table in as many pieces as the width asks for; each begins with the row's label, and no figure is ever cut."""
    leads, found = _telling(table)
    shown, gap = fitted(found, leads, width, SPARE)
    return [draw([*leads, *piece], _points(table), gap) for piece in pack(shown, leads, width, gap)]


def by_kind(table: Table, width: int) -> list[RichTable]:
    """Scores, and tokens, by kind of task, in as many pieces as the width asks for; none where there are too many kinds, or one."""
    named, pieces = kinds(table), []
    if 1 < len(named) <= MOST_KINDS:
        first, *others = _columns(table)[: _leading(table)]
        for title, form, found in (
            ("score by kind", tenths, [row.kinds for row in table.rows]),
            ("tokens by kind", "{:,.0f}".format, [row.kind_tokens for row in table.rows]),
        ):
            leads = [Column(title, first.cells), *others]
            columns = [Column(kind, tuple(form(by[kind]) if kind in by else "–" for by in found)) for kind in named]
            pieces += columns_as_tables(columns, leads, _points(table), width)
    return pieces


def _columns(table: Table) -> list[Column]:
    lines = [cells(row) for row in table.rows]
    return [Column(name, tuple(line[at] for line in lines)) for at, name in enumerate(COLUMNS)]


def _telling(table: Table) -> tuple[list[Column], list[Column]]:
    """The columns that begin each piece, and the others that tell something."""
    found, empty = _columns(table), _empty(table)
    return found[: _leading(table)], [column for column in found[2:] if column.name not in empty]


def _leading(table: Table) -> int:
    """Columns that begin each piece: domains have one where there are several."""
    return 2 if len({row.domain for row in table.rows}) > 1 else 1


def _points(table: Table) -> list[int]:
    """What separates one line from the next by a rule."""
    return [row.point for row in table.rows]


def _empty(table: Table) -> set[str]:
    """Columns that would tell nothing: of pairs, where only one arm was played; of endings that no episode had."""
    left = set() if any(row.versus_plain for row in table.rows) else {"vs plain", "retention %"}
    left |= set() if any(row.out_of_steps for row in table.rows) else {"out of steps"}
    return left | (set() if any(row.failed for row in table.rows) else {"failed"})


def kinds(table: Table) -> list[str]:
    """Every kind of task in the table."""
    return sorted({kind for row in table.rows for kind in row.kinds})


def cells(row: Row) -> list[str]:
    """One line of the table as text."""
    domain = "all domains" if row.domain == POOLED else row.domain
    return [
        row.label,
        domain,
        f"{row.n}" + (f" ({row.errors} died)" if row.errors else ""),
        row.score.text(),
        f"{tenths(row.success)} %",
        f"{tenths(row.out_of_steps)} %",
        f"{tenths(row.failed)} %",
        difference(row.versus_base),
        difference(row.versus_plain),
        row.retention.text() if row.retention else "–",
        f"{row.tokens_in:,.0f}",
        f"{row.tokens_out:,.0f}",
        f"{row.seconds:.3g}",
    ]


def difference(value: Interval | None) -> str:
    """A paired difference, e.g. ``+5.1 [-0.2, +9.9]``."""
    return value.text(signed=True) if value else "–"


def caption(table: Table, width: int) -> str:
    """What the columns that fit the width mean, and the names of the lines."""
    leads, found = _telling(table)
    shown, _ = fitted(found, leads, width, SPARE)
    names = [column.name for column in shown]
    paired = any(name in names and any(getattr(row, field) for row in table.rows) for name, field in PAIRED.items())
    each = [name for name in ("tokens", "seconds") if any(column.startswith(name) for column in names)]
    return explained(
        names,
        "+Harness: the bank is shown" if any(row.arm == "experience" for row in table.rows) else "",
        f"score 0 to 100 with {100 * table.confidence:g} % bootstrap interval over tasks",
        "differences are paired on the same task and replica" if paired else "",
        f"{' and '.join(each)} are per episode" if each else "",
        left_out(found, shown),
    )
