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
    if table.rows:
        console.print(rich_table(table))
        if 1 < len(kinds(table)) <= MOST_KINDS:
            console.print(kind_table(table))
        console.print(caption(table), style="dim")
    if run.header.status != "finished":
        console.print(f"this run is not finished (status: {run.header.status}); the same command goes on with it")


def rich_table(table: Table) -> RichTable:
    """One line per evaluation point, domain and arm."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(COLUMNS):
        drawn.add_column(name, justify="left" if number < 2 else "right", no_wrap=True)
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
        drawn.add_column(Text(name), justify="left" if number < 2 else "right", no_wrap=True)
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
        interval(row.score),
        f"{row.success:.1f} %",
        interval(row.versus_base, signed=True),
        interval(row.versus_plain, signed=True),
        f"{row.tokens_in:,.0f}",
        f"{row.tokens_out:,.0f}",
        f"{row.seconds:.3g}",
    ]


def interval(value: Interval | None, *, signed: bool = False) -> str:
    """Mean and bounds, e.g. ``41.2 [35.0, 47.9]``."""
    if value is None:
        return "–"
    form = "{:+.1f}" if signed else "{:.1f}"
    mean = form.format(value.mean)
    if value.low is None or value.high is None:
        return mean
    return f"{mean} [{form.format(value.low)}, {form.format(value.high)}]"


def caption(table: Table) -> str:
    """What the columns mean."""
    return (
        f"score 0 to 100 with {100 * table.confidence:g} % bootstrap interval over tasks; differences are paired on the same task and "
        "replica; tokens and seconds are per episode"
    )
