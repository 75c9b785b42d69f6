"""Runs that differ in nothing but their seed, on one line for each arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from xplearn.metrics.digits import tenths
from xplearn.metrics.finals import final_difference, final_score
from xplearn.metrics.rounds import mean_gain
from xplearn.metrics.seeds import Pool, averaged, deviation, pools, retention, successes
from xplearn.report.columns import Column, tables, telling
from xplearn.report.explained import explained
from xplearn.report.learning import rounds
from xplearn.report.matrix import standing, text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from xplearn.metrics.compare import Entry
    from xplearn.record.reader import Run
    from xplearn.types import EpisodeResult

    Played = tuple[Run, Sequence[EpisodeResult]]

CAPTION = (
    "over seeds: final scores, successes and their differences, paired on the seeds that both have, are means over seeds; their intervals "
    "are over tasks and seeds (over tasks where there is one)"
)
NONE = "–"


def render(found: Sequence[Entry], runs: Mapping[str, Played], console: Console) -> None:
    """Print the configurations side by side where one of them has several seeds.

    Args:
        found: each arm of each run.
        runs: each with its episodes, by the name that ``found`` calls it.
        console: where to.
    """
    reached = [pool for pool in pools(found) if averaged(pool.scores.values()).reached]
    for piece in pieces(reached, runs, console.width) if reached else ():
        console.print(piece)
    if reached:
        shown = [column.name for column in _columns(reached, runs)]
        over = "intervals of retention are over tasks" if "retention %" in shown else ""
        console.print(explained(shown, CAPTION, over), style="dim")


def pieces(found: Sequence[Pool], runs: Mapping[str, Played], width: int) -> list[RichTable]:
    """A line for each arm of each configuration, cut to the width between columns."""
    means = [averaged(pool.scores.values()) for pool in found]
    lead = Column("over seeds", tuple(standing(pool.label, mean) for pool, mean in zip(found, means, strict=True)))
    sections = [
        number
        for number, key in enumerate(dict.fromkeys(pool.configuration for pool in found))
        for pool in found
        if pool.configuration == key
    ]
    return tables(_columns(found, runs), [lead], sections, width)


def _columns(found: Sequence[Pool], runs: Mapping[str, Played]) -> list[Column]:
    """Those that tell something."""
    won = [{seed: successes(entry.matrix, runs[entry.run][1]) for seed, entry in pool.entries.items()} for pool in found]
    others = range(1, len(found))
    columns = [
        Column("final", tuple(text(final_score(pool.scores)) for pool in found)),
        Column(f"vs {found[0].name}", (NONE, *(text(final_difference(found[at].scores, found[0].scores), signed=True) for at in others))),
        Column("deviation", tuple(_number(deviation(pool.scores.values())) for pool in found)),
        Column("success %", tuple(text(final_score(by_seed)) for by_seed in won)),
        Column(f"success vs {found[0].name}", (NONE, *(text(final_difference(won[at], won[0]), signed=True) for at in others))),
        Column("retention %", tuple(_retention(pool, found) for pool in found)),
        *_learning(found, runs),
    ]
    return telling(columns, NONE)


def _retention(pool: Pool, found: Sequence[Pool]) -> str:
    """On the line of the score that it is a part of."""
    plain = [other for other in found if other.configuration == pool.configuration and other.arm == "plain"]
    return text(retention(plain[0].scores, pool.scores)) if plain and pool.arm == "experience" else NONE


def _learning(found: Sequence[Pool], runs: Mapping[str, Played]) -> list[Column]:
    """Gain and bank, which are the run's: once for each configuration, on its last line."""
    last = {pool.configuration: pool for pool in found}
    gains, banks = [], []
    for pool in found:
        learned = [rounds(*runs[entry.run]) for entry in pool.entries.values()] if pool is last[pool.configuration] else []
        gains.append(_number(_mean([mean_gain(of) for of in learned]), partial(tenths, signed=True)))
        banks.append(_number(_mean([of[-1].bank for of in learned if of]), "{:,.0f}".format))
    return [Column("gain", tuple(gains)), Column("bank", tuple(banks))]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _number(value: float | None, form: Callable[[float], str] = tenths) -> str:
    return NONE if value is None else form(value)
