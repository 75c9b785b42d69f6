"""Costs: tokens, time and storage of each contender."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xplearn.metrics.spending import Purpose, Spent, Upkeep
from xplearn.report.costs import seconds, size
from xplearn.report.figure import Figure
from xplearn.report.figures import legend
from xplearn.report.figures.kit import Drawing, compact
from xplearn.report.figures.scale import Scale, of_sizes
from xplearn.report.figures.texture import bar, sample
from xplearn.report.figures.words import TEXT, width
from xplearn.types import Arm

Spendings = Mapping[tuple[Purpose, Arm], Spent]

WHAT_FOR = ("demonstrations", "training", "evaluation", "writing the bank", "learning", "bank")
"""In the order of the bars, and of their textures."""
_NAME, _HEAD, _BAR, _PAD, _GAP = 22.0, 24.0, 14.0, 12.0, 16.0

Bars = Mapping[str, float]
"""Value by what it is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    title: str
    bars: Mapping[str, Bars]
    """By contender."""
    form: Callable[[float], str]


def costs(
    spendings: Mapping[str, Spendings],
    kept: Mapping[str, Upkeep] | None = None,
    stored: Mapping[str, int | None] | None = None,
    *,
    name: str = "costs",
) -> Figure | None:
    """Tokens and seconds by what they were for, and bytes of the bank, as bars; logarithmic where figures differ over fifty times.

    Args:
        spendings: ``report.costs.costs(...)[0]`` by name; None is drawn where there is none.
        kept: ``report.costs.costs(...)[1]`` by name: seconds of learners.
        stored: bytes on disk of each bank by name.
        name: of the figure.
    """
    columns = [column for column in _columns(spendings, kept or {}, stored or {}) if any(column.bars.values())]
    names = list(dict.fromkeys(label for column in columns for label, bars in column.bars.items() if bars))
    if not names:
        return None
    drawing = Drawing()
    used = [what for what in WHAT_FOR if any(what in bars for column in columns for bars in column.bars.values())]
    top = legend.legend(drawing, [(sample(WHAT_FOR.index(what)), what) for what in used], 2.0) + 4.0
    pitch = (drawing.width - 8.0) / len(columns)
    scales = [_scale(column, 8.0 + place * pitch, pitch) for place, column in enumerate(columns)]
    for column, scale in zip(columns, scales, strict=True):
        drawing.text((scale.start, top + 15), column.title + (", log scale" if scale.log else ""), "k-muted")
    y = top + _HEAD
    for label in names:
        y = _contender(drawing, y, label, columns, scales)
    caption = "What each took in all: tokens read and written, seconds on the clock, and bytes of its bank on disk; both arms together."
    return drawing.figure(y + 2, name=name, title="Costs", caption=caption)


def _columns(spendings: Mapping[str, Spendings], kept: Mapping[str, Upkeep], stored: Mapping[str, int | None]) -> list[_Column]:
    tokens = {label: _sums(of, lambda spent: spent.tokens_in + spent.tokens_out) for label, of in spendings.items()}
    times = {label: {**_sums(of, lambda spent: spent.seconds), **_learners(kept.get(label))} for label, of in spendings.items()}
    bytes_ = {label: {"bank": float(found)} if (found := stored.get(label)) else {} for label in spendings}
    return [
        _Column(title="tokens", bars=tokens, form=compact),
        _Column(title="seconds", bars=times, form=seconds),
        _Column(title="bank on disk", bars=bytes_, form=lambda value: size(int(value))),
    ]


def _sums(spendings: Spendings, figure: Callable[[Spent], float]) -> Bars:
    found: dict[str, float] = {}
    for (purpose, _), spent in spendings.items():
        found[purpose] = found.get(purpose, 0.0) + figure(spent)
    return found


def _learners(kept: Upkeep | None) -> Bars:
    taken = {} if kept is None else {"writing the bank": kept.record_seconds, "learning": kept.learner_seconds}
    return {what: value for what, value in taken.items() if value is not None}


def _scale(column: _Column, left: float, pitch: float) -> Scale:
    values = [value for bars in column.bars.values() for value in bars.values()]
    room = max(width(column.form(value)) for value in values) + 6
    return of_sizes(values, left, left + pitch - room - _GAP)


def _contender(drawing: Drawing, y: float, label: str, columns: Sequence[_Column], scales: Sequence[Scale]) -> float:
    drawing.text((8, y + 16), label, "k-strong", size=TEXT, room=drawing.width - 16)
    y += _NAME
    lines = 0
    for column, scale in zip(columns, scales, strict=True):
        bars = column.bars.get(label, {})
        shown = [what for what in WHAT_FOR if what in bars]
        lines = max(lines, len(shown))
        for line, what in enumerate(shown):
            at, end = y + line * _BAR, scale(bars[what]) if bars[what] > 0 else scale.start
            with drawing.titled(f"{label}, {what}: {column.form(bars[what])} {column.title}"):
                bar(drawing, (scale.start, at + 1.5, end - scale.start, _BAR - 4), WHAT_FOR.index(what))
                drawing.text((end + 4, at + 11), column.form(bars[what]), "k-muted")
        if shown:
            drawing.line((scale.start, y - 1), (scale.start, y + len(shown) * _BAR), "k-axis")
    return y + lines * _BAR + _PAD
