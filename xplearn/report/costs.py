"""What a run cost: its episodes by purpose and arm, its learners, and keeping the bank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xplearn.metrics.spending import Purpose, Spent, Upkeep, spending, upkeep
from xplearn.report.columns import Column, tables, telling
from xplearn.report.learning import demonstrations
from xplearn.report.shown import told

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from xplearn.record.reader import Run
    from xplearn.types import Arm, EpisodeResult

COLUMNS = ("cost", "episodes", "tokens in", "tokens out", "seconds")
NONE = "–"

Spendings = dict[tuple[Purpose, "Arm"], Spent]


def render(run: Run, results: Sequence[EpisodeResult], console: Console) -> None:
    """Print what the run has cost so far; ``results`` are its episodes."""
    spent, kept = costs(run, results)
    if not spent:
        return
    for piece in pieces(spent, kept, console.width):
        console.print(piece)
    line = bank(kept, stored(run))
    if line:
        console.print(line, markup=False, highlight=False)


def costs(run: Run, results: Sequence[EpisodeResult]) -> tuple[Spendings, Upkeep]:
    """What its episodes took, by arms as the policy saw them, and what its learners and bank did."""
    seen = [replace(result, arm=told(run, result.arm)) for result in results]
    return spending(seen, demonstrations(run, results)), upkeep(run.scalars(), run.calls(), run.history())


def stored(run: Run) -> int | None:
    """Bytes on disk of the bank in the run's folder; None where the run keeps it elsewhere."""
    files = [path.stat().st_size for path in (run.path / "bank").glob("*") if path.is_file()]
    return sum(files) if files else None


def pieces(spent: Spendings, kept: Upkeep, width: int) -> list[RichTable]:
    """A line for each purpose and arm, and for each sort of learner, cut to the width between columns."""
    lines = [*_episodes(spent), *_learners(kept)]
    found = [Column(name, tuple(line[at] for line in lines)) for at, name in enumerate(COLUMNS)]
    return tables(found[1:], found[:1], [0] * len(lines), width)


def bank(kept: Upkeep, on_disk: int | None) -> str:
    """The bank in one line: its size, and how often it changes; empty where nothing was ever in it."""
    if not kept.bank and not kept.added:
        return ""
    sizes = [f"{kept.bank or 0:,} experiences"]
    sizes += [f"{size(kept.content_bytes)} of texts and vectors"] if kept.content_bytes is not None else []
    sizes += [f"{size(on_disk)} on disk"] if on_disk is not None else []
    if kept.added is None:
        return f"bank: {', '.join(sizes)}"
    writes = f"{kept.added:,} added, {kept.changed:,} reworded, {kept.removed:,} removed"
    return f"bank: {', '.join(sizes)}; {writes} in {kept.rounds_written} of {kept.rounds} rounds"


def compared(names: Sequence[str], runs: Sequence[Run], results: Sequence[Sequence[EpisodeResult]], width: int) -> list[RichTable]:
    """The costs of several runs, each with its episodes, side by side, cut to the width between columns."""
    found = [costs(run, episodes) for run, episodes in zip(runs, results, strict=True)]
    lead = Column("cost", tuple(names))
    columns = [*_totals([spent for spent, _ in found]), *_upkeep([kept for _, kept in found], runs)]
    known = telling(columns, NONE)
    return tables(known, [lead], [0] * len(runs), width) if known else []


def _episodes(spent: Spendings) -> Iterator[tuple[str, ...]]:
    for (purpose, arm), found in spent.items():
        name = purpose if purpose == "demonstrations" else f"{purpose}, {arm} arm"
        yield name, f"{found.episodes:,}", f"{found.tokens_in:,}", f"{found.tokens_out:,}", seconds(found.seconds)


def _learners(kept: Upkeep) -> Iterator[tuple[str, ...]]:
    for name, taken in (("writing the bank", kept.record_seconds), ("learning", kept.learner_seconds)):
        if taken is not None:
            yield name, NONE, NONE, NONE, seconds(taken)


def _totals(spent: Sequence[Spendings]) -> Iterator[Column]:
    """Tokens, read and written, by purpose and arm, then the seconds of all episodes."""
    purposes: tuple[Purpose, ...] = ("training", "evaluation")
    arms: tuple[Arm, ...] = ("plain", "experience")
    for purpose in purposes:
        for arm in arms:
            found = [of.get((purpose, arm)) for of in spent]
            yield Column(f"{purpose} tokens, {arm}", _cells(None if one is None else one.tokens_in + one.tokens_out for one in found))
    yield Column("episodes s", tuple(seconds(sum(one.seconds for one in of.values())) for of in spent))


def _upkeep(kept: Sequence[Upkeep], runs: Sequence[Run]) -> Iterator[Column]:
    yield Column("writing the bank s", tuple(NONE if one.record_seconds is None else seconds(one.record_seconds) for one in kept))
    yield Column("learning s", tuple(NONE if one.learner_seconds is None else seconds(one.learner_seconds) for one in kept))
    yield Column("bank", _cells(one.bank for one in kept))
    yield Column("on disk", tuple(NONE if found is None else size(found) for found in map(stored, runs)))
    yield Column("added", _cells(one.added for one in kept))
    yield Column("reworded", _cells(one.changed for one in kept))
    yield Column("removed", _cells(one.removed for one in kept))
    yield Column(
        "rounds that wrote", tuple(NONE if one.rounds_written is None else f"{one.rounds_written} of {one.rounds}" for one in kept)
    )


def _cells(values: Iterable[int | None]) -> tuple[str, ...]:
    return tuple(NONE if value is None else f"{value:,}" for value in values)


def seconds(value: float) -> str:
    """A time with three digits, e.g. ``0.042``, ``3.14``, ``1,234``."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one, e.g. ``3.4 MB``."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.3g} GB"
