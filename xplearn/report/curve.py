"""What a curriculum says about its choice, as one line and a curve for each round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from xplearn.record.checked import conforms
from xplearn.report.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from xplearn.record.reader import Run

BARS = "▁▂▃▄▅▆▇█"
MOST_BARS = 48


def render(run: Run, console: Console) -> None:
    """Print a line for each round whose curriculum told a curve."""
    name = run.header.parts.get("curriculum", {}).get("name", "curriculum")
    points = list(accumulate(int(not stage["warmup"]) for stage in run.header.resolved["stream"]))
    for stage, round, explained in run.explained():
        told = line(explained)
        if told and stage < len(points):
            learned = f"stage {points[stage]}" if points[stage] else "warm-up"
            within = f", round {round + 1}" if round else ""
            console.print(printable(f"{learned}{within}: {name} {told}"), markup=False, highlight=False)


def line(explained: Mapping[str, Any]) -> str:
    """The curve of what was gained by each chosen in turn, and how many were kept; empty where none was told."""
    gains, kept = explained.get("gains"), explained.get("kept")
    if not isinstance(gains, list) or not gains or not all(conforms(gain, float) for gain in gains) or not conforms(kept, int):
        return ""
    total = list(accumulate(gains))
    pool = f" of {explained['cards']}" if conforms(explained.get("cards"), int) else ""
    drawn = f" (draw: {explained['draw']})" if conforms(explained.get("draw"), str) else ""
    knee = f", knee at {explained['knee']}" if conforms(explained.get("knee"), int) else ""
    return f"kept {kept}{pool}{drawn}; {len(gains)} would cover {total[-1]:g}{knee}  {bars(total)}"


def bars(values: Sequence[float]) -> str:
    """A growing curve as blocks, from 0 to its last value; long ones are thinned out."""
    count = min(len(values), MOST_BARS)
    shown = [values[(number + 1) * len(values) // count - 1] for number in range(count)]
    top = max(shown) or 1
    return "".join(BARS[round(value / top * (len(BARS) - 1))] for value in shown)


def spark(values: Sequence[float | None], *, low: float, high: float, count: int = MOST_BARS) -> str:
    """A curve as blocks between two bounds, a dot where nothing is known.

    Args:
        values: one for each bar; neighbours are averaged where there are more than fit.
        low: what the lowest bar stands for.
        high: what the highest one stands for.
        count: how many bars fit, at most ``MOST_BARS`` of them are drawn.
    """
    count = min(len(values), count, MOST_BARS)
    parts = [values[len(values) * number // count : len(values) * (number + 1) // count] for number in range(count)]
    return "".join(_bar([value for value in part if value is not None], low, high) for part in parts)


def _bar(values: Sequence[float], low: float, high: float) -> str:
    if not values:
        return "·"
    share = (sum(values) / len(values) - low) / (high - low) if high > low else 0.0
    return BARS[round(share * (len(BARS) - 1))]
