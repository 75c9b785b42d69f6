"""Costs: tokens, time and storage of each configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xplearn.metrics.spending import Purpose, Spent, Upkeep
from xplearn.report.costs import seconds, size
from xplearn.report.figure import Figure
from xplearn.report.figures import legend
from xplearn.report.figures.kit import Drawing, compact
from xplearn.report.figures.scale import Scale
from xplearn.report.figures.texture import bar, sample
from xplearn.report.figures.words import TEXT, apart, width
from xplearn.types import Arm

Spendings = Mapping[tuple[Purpose, Arm], Spent]

WHAT_FOR = ("demonstrations", "training", "evaluation", "writing the bank", "learning", "bank")
"""In the order of the bars, and of their textures."""
_NAME, _HEAD, _BAR, _PAD, _GAP = 21.0, 24.0, 15.0, 7.0, 16.0

Bars = Mapping[str, float]
"""Value by what it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one run."""

    spent: Spendings
    """``report.costs.costs(...)[0]``."""
    kept: Upkeep | None = None
    """``report.costs.costs(...)[1]``: seconds of learners."""
    stored: int | None = None
    """Bytes of its bank on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    title: str
    bars: Mapping[str, Bars]
    """By configuration."""
    form: Callable[[float], str]


def costs(found: Mapping[str, Sequence[Cost]], *, title: str = "Costs", name: str = "costs") -> Figure | None:
    """Tokens, seconds and bytes of each configuration, a bar in parts for each, the longest time first.

    Args:
        found: by configuration, one for each seed, whose mean is drawn; None is drawn where nothing is known.
        title: of the figure.
        name: of the figure.
    """
    columns = [column for column in _columns(found) if any(column.bars.values())]
    names = sorted(found, key=lambda label: [-sum(column.bars[label].values()) for column in _columns(found)[1::-1]])
    if not columns:
        return None
    drawing = Drawing()
    used = [what for what in WHAT_FOR if any(what in bars for column in columns for bars in column.bars.values())]
    top = legend.legend(drawing, [(sample(WHAT_FOR.index(what)), what) for what in used], 2.0) + 4.0
    pitch = (drawing.width - 8.0) / len(columns)
    scales = [_scale(column, 8.0 + place * pitch, pitch) for place, column in enumerate(columns)]
    for column, scale in zip(columns, scales, strict=True):
        drawing.text((scale.start, top + 15), column.title, "k-muted")
    for number, name_and_short in enumerate(zip(names, apart(names, drawing.width - 16, TEXT), strict=True)):
        _configuration(drawing, top + _HEAD + number * (_NAME + _BAR + _PAD), name_and_short, columns, scales)
    seeds = ", mean over seeds" if any(len(of) > 1 for of in found.values()) else ""
    caption = (
        f"What each took in all{seeds}, both arms together: tokens read and written, seconds of wall clock (a busy machine takes longer), "
        "bytes of its bank on disk."
    )
    return drawing.figure(top + _HEAD + len(names) * (_NAME + _BAR + _PAD), name=name, title=title, caption=caption)


def _columns(found: Mapping[str, Sequence[Cost]]) -> list[_Column]:
    def bars(of: Callable[[Cost], Bars]) -> Mapping[str, Bars]:
        return {label: _mean([of(cost) for cost in seeds]) for label, seeds in found.items()}

    return [
        _Column(title="tokens", bars=bars(_tokens), form=compact),
        _Column(title="seconds", bars=bars(_seconds), form=seconds),
        _Column(title="bank on disk", bars=bars(_bytes), form=lambda value: size(int(value))),
    ]


def _mean(seeds: Sequence[Bars]) -> Bars:
    parts = dict.fromkeys(what for bars in seeds for what in bars)
    return {what: sum(bars.get(what, 0.0) for bars in seeds) / len(seeds) for what in parts}


def _tokens(cost: Cost) -> Bars:
    return _sums(cost.spent, lambda spent: spent.tokens_in + spent.tokens_out)


def _seconds(cost: Cost) -> Bars:
    kept = cost.kept
    taken = {} if kept is None else {"writing the bank": kept.record_seconds, "learning": kept.learner_seconds}
    known = {what: value for what, value in taken.items() if value is not None}
    return {**_sums(cost.spent, lambda spent: spent.seconds), **known}


def _bytes(cost: Cost) -> Bars:
    return {"bank": float(cost.stored)} if cost.stored else {}


def _sums(spendings: Spendings, figure: Callable[[Spent], float]) -> Bars:
    found: dict[str, float] = {}
    for (purpose, _), spent in spendings.items():
        found[purpose] = found.get(purpose, 0.0) + figure(spent)
    return {what: value for what, value in found.items() if value}


def _scale(column: _Column, left: float, pitch: float) -> Scale:
    totals = [sum(bars.values()) for bars in column.bars.values()]
    room = max(width(column.form(total)) for total in totals) + 6
    return Scale(0.0, max(totals), left, left + pitch - room - _GAP)


def _configuration(drawing: Drawing, y: float, called: tuple[str, str], columns: Sequence[_Column], scales: Sequence[Scale]) -> None:
    """``called``: its name, and what is shown of it."""
    label, short = called
    drawing.text((8, y + 16), label, "k-text", size=TEXT, short=short)
    for column, scale in zip(columns, scales, strict=True):
        bars = column.bars[label]
        if not bars:
            continue
        told = "; ".join(f"{what} {column.form(bars[what])}" for what in WHAT_FOR if what in bars)
        with drawing.titled(f"{label}: {column.form(sum(bars.values()))} {column.title}: {told}"):
            drawing.text((_parts(drawing, y + _NAME, bars, scale) + 4, y + _NAME + 11.5), column.form(sum(bars.values())), "k-muted")
        drawing.line((scale.start, y + _NAME - 1), (scale.start, y + _NAME + _BAR - 1), "k-axis")


def _parts(drawing: Drawing, y: float, bars: Bars, scale: Scale) -> float:
    """The parts of a bar behind one another; returns where it ends."""
    done = 0.0
    for what in WHAT_FOR:
        if bars.get(what):
            start, done = done, done + bars[what]
            bar(drawing, (scale(start), y, scale(done) - scale(start), _BAR - 2), WHAT_FOR.index(what))
    return scale(done)
