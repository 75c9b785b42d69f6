"""How a run learned, round by round, as small curves: training scores of each arm, what experience gained, and the size of the bank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xplearn.metrics.digits import tenths
from xplearn.metrics.rounds import Round, build_rounds, figure, trained
from xplearn.record.history import RESERVED
from xplearn.report.curve import spark
from xplearn.report.shown import told

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.record.reader import Run
    from xplearn.types import EpisodeResult

FEWEST = 3
"""Rounds that make a curve."""

TELLING = ("loss", "reward", "success", "kl", "divergence", "entropy", "gate", "utility", "norm")
"""Words in the names of figures that say how learning goes, the most telling first."""

UNTELLING = RESERVED | {"seconds", "tokens", "tokens_per_second", "steps", "trajectories", "bank", "gain_mean"}
"""Figures that say how long or how much, and those that the rounds' own curves show."""

MOST_FIGURES = 6

CAPTION = (
    "first and last round, and the curve: mean training score by arm; gain: experience arm minus plain arm; gain_mean: as a learner tells "
    "it; bank: experiences in it; a dot is a round without it"
)

Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One figure over the rounds."""

    name: str
    values: Values
    """One for each round; None where there is none."""
    form: Callable[[float], str]
    """How a value is written."""
    low: float
    """What the lowest bar stands for."""
    high: float

    @property
    def ends(self) -> str:
        """First and last value."""
        known = [value for value in self.values if value is not None]
        return f"{self.form(known[0])} → {self.form(known[-1])}"


def render(run: Run, results: Sequence[EpisodeResult], console: Console) -> None:
    """Print the curves of a run with at least three rounds, finished or not; ``results`` are its episodes."""
    found = rounds(run, results)
    drawn = lines(curves(found), console.width) if len(found) >= FEWEST else []
    if not drawn:
        return
    stages = len({at.place[0] for at in found})
    console.print(f"{len(found)} rounds" + (f" of {stages} stages" if stages > 1 else ""), highlight=False)
    for line in drawn:
        console.print(line, markup=False, highlight=False, no_wrap=True)
    console.print(CAPTION, style="dim")


def rounds(run: Run, results: Sequence[EpisodeResult], shown: Collection[str] | None = None) -> list[Round]:
    """The rounds of a run so far, warm-up stages aside, from its episodes and what its learners told, with the arms as the policy saw them.

    Args:
        run: itself.
        results: its episodes.
        shown: its ``demonstrations``, by whoever knows them.
    """
    shown = demonstrations(run, results) if shown is None else shown
    warmups = {index for index, stage in enumerate(run.header.resolved["stream"]) if stage["warmup"]}
    played = (result for result in results if result.phase not in shown)
    found = [one for one in build_rounds(played, run.scalars(), run.calls()) if one.place[0] not in warmups]
    return [
        replace(one, scores={told(run, arm): score for arm, score in one.scores.items()}) if len(one.scores) == 1 else one for one in found
    ]


def demonstrations(run: Run, results: Iterable[EpisodeResult]) -> frozenset[str]:
    """The training phases whose trajectories are the expert's."""
    phases = {result.phase for result in results if trained(result.phase) is not None}
    firsts = {phase: next(run.trajectories(phase), None) for phase in phases}
    return frozenset(phase for phase, first in firsts.items() if first is not None and first.source == "demonstration")


def curves(rounds: Sequence[Round]) -> list[Curve]:
    """What there is to draw: both scores on one scale from 0, gains on one that holds 0."""
    scores = {arm: tuple(found.scores.get(arm) for found in rounds) for arm in ("plain", "experience")}
    top = max((value for values in scores.values() for value in values if value is not None), default=0.0)
    named: list[tuple[str, Values, Callable[[float], str], tuple[float, float] | None]] = [
        *((f"score, {arm} arm", values, tenths, (0.0, top)) for arm, values in scores.items()),
        ("gain", tuple(found.gain for found in rounds), partial(tenths, signed=True), None),
        ("gain_mean", tuple(found.gain_mean for found in rounds), "{:+.3f}".format, None),
        ("bank", tuple(found.bank for found in rounds), "{:,.0f}".format, None),
    ]
    return [_curve(name, values, form, scale) for name, values, form, scale in named if any(value is not None for value in values)]


def figures(scalars: Iterable[Mapping[str, Any]]) -> list[Curve]:
    """What learners tell, call by call: at most six of the figures that change.

    Those with one of ``TELLING`` in their name come first, in its order, then the others as they are told.
    """
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in scalars:
        for name in line:
            value = figure(line, name)
            if value is not None and name not in UNTELLING:
                found[line["learner"], name].append(value)
    changing = [key for key, values in found.items() if len(set(values)) > 1]
    return [_figure(path, name, found[path, name]) for path, name in sorted(changing, key=lambda key: _rank(key[1]))[:MOST_FIGURES]]


def _rank(name: str) -> int:
    """Place among the telling names; behind them all for another."""
    words = name.split("_")
    return next((place for place, word in enumerate(TELLING) if word in words), len(TELLING))


def _figure(path: str, name: str, values: Sequence[float]) -> Curve:
    return Curve(name=f"{path} {name}", values=tuple(values), form="{:.4g}".format, low=min(values), high=max(values))


def lines(curves: Sequence[Curve], width: int) -> list[str]:
    """A line for each curve: name, first and last value, and as many bars as the width leaves room for."""
    names = max((len(curve.name) for curve in curves), default=0)
    ends = max((len(curve.ends) for curve in curves), default=0)
    room = max(1, width - names - ends - 4)
    return [
        f"{curve.name:<{names}}  {curve.ends:>{ends}}  {spark(curve.values, low=curve.low, high=curve.high, count=room)}"
        for curve in curves
    ]


def _curve(name: str, values: Values, form: Callable[[float], str], scale: tuple[float, float] | None) -> Curve:
    known = [value for value in values if value is not None]
    low, high = scale or (min(0.0, *known), max(0.0, *known))
    return Curve(name=name, values=values, form=form, low=low, high=high)
