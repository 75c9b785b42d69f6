"""The table of a run on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xplearn.metrics.table import POOLED

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from xplearn.metrics.bootstrap import Interval
    from xplearn.metrics.table import Row, Table
    from xplearn.record.reader import Run

COLUMNS = ("", "domain", "n", "score", "success", "vs Base", "vs plain", "tokens in", "tokens out", "seconds")
MOST_KINDS = 8
"""Kinds of task that still fit on a terminal side by side."""


def render(run: Run, console: Console) -> None:
    """Print the table of a run, finished or not."""
    table = run.table()
    console.print(heading(run), markup=False)
    if table.rows:
        console.print(rich_table(table))
        if 1 < len(kinds(table)) <= MOST_KINDS:
            console.print(kind_table(table))
        console.print(caption(table), style="dim")
    if run.header.status != "finished":
        console.print(standing(run), markup=False)


def heading(run: Run) -> str:
    """What was run, in one line."""
    header, parts = run.header, run.header.parts
    policy = parts.get("policy", {})
    named = " ".join(str(policy[key]) for key in ("name", "model") if policy.get(key))
    learners = ", ".join(part["name"] for path, part in parts.items() if path.startswith("learner.")) or "no learner"
    stores = f"{parts.get('selector', {}).get('name', '')} + {parts.get('conditioner', {}).get('name', '')}"
    return f"{run.path.name}: {named}, {learners}, {stores}, seed {header.seed}, started {header.started}"


def standing(run: Run) -> str:
    """How far a run that is not finished has come."""
    episodes = list(run.episodes())
    last = f"; last in {episodes[-1].phase}" if episodes else ""
    goes_on = "" if run.header.status == "running" else "; the same command goes on with it"
    return f"this run is not finished (status: {run.header.status}, {len(episodes)} episodes so far{last}){goes_on}"


def rich_table(table: Table) -> RichTable:
    """One line per evaluation point, domain and arm."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(COLUMNS):
        drawn.add_column(name, justify="left" if number < 2 else "right", no_wrap=number == 0, overflow="fold")
    for before, row in zip((None, *table.rows), table.rows, strict=False):
        if before is not None and before.point != row.point:
            drawn.add_section()
        drawn.add_row(*map(Text, cells(row)))
    return drawn


def kinds(table: Table) -> list[str]:
    """Every kind of task in the table."""
    return sorted({kind for row in table.rows for kind in row.kinds})


def kind_table(table: Table) -> RichTable:
    """Mean score by kind of task, one line per evaluation point, domain and arm."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(("score by kind", "domain", *kinds(table))):
        drawn.add_column(Text(name), justify="left" if number < 2 else "right", no_wrap=number == 0, overflow="fold")
    for row in table.rows:
        scores = [f"{row.kinds[kind]:.1f}" if kind in row.kinds else "–" for kind in kinds(table)]
        drawn.add_row(*map(Text, (row.label, cells(row)[1], *scores)))
    return drawn


def cells(row: Row) -> list[str]:
    """One line of the table as text."""
    domain = "all domains" if row.domain == POOLED else row.domain
    return [
        row.label,
        domain,
        f"{row.n}" + (f" ({row.errors} died)" if row.errors else ""),
        row.score.text(),
        f"{row.success:.1f} %",
        difference(row.versus_base),
        difference(row.versus_plain),
        f"{row.tokens_in:,.0f}",
        f"{row.tokens_out:,.0f}",
        f"{row.seconds:.3g}",
    ]


def difference(value: Interval | None) -> str:
    """A paired difference, e.g. ``+5.1 [-0.2, +9.9]``."""
    return value.text(signed=True) if value else "–"


def caption(table: Table) -> str:
    """What the columns mean."""
    return (
        f"score 0 to 100 with {100 * table.confidence:g} % bootstrap interval over tasks; differences are paired on the same task and "
        "replica; tokens and seconds are per episode"
    )
