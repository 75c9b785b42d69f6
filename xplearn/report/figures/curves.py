"""Coverage curves: how much of a stage's experience the anchors of a curriculum cover, and where the curve bends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from xplearn.record.checked import conforms
from xplearn.report.figure import Figure
from xplearn.report.figures import legend
from xplearn.report.figures.kit import Anchor, Drawing, Point, compact
from xplearn.report.figures.panel import Panel, below, bottom, boxes, margin
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.words import width

Told = Sequence[tuple[int, int, Mapping[str, Any]]]
"""As ``Run.explained()`` gives it: stage, round, and what the curriculum said."""

_HEIGHT = 130.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """What one choice would cover, anchor by anchor."""

    when: str
    total: tuple[float, ...]
    """Covered by the first anchor, the first two, …"""
    kept: int
    knee: int | None
    cards: int | None
    """How many there were to cover."""


def coverage(told: Mapping[str, Told], *, name: str = "coverage") -> Figure | None:
    """Experiences covered by the first anchors, a small panel for each run and a curve for each round; knee and what was kept are marked.

    Args:
        told: ``Run.explained()`` by name of the run; None is drawn where no curriculum told a curve.
        name: of the figure.
    """
    shown = {label: found for label, of in told.items() if (found := curves(of))}
    if not shown:
        return None
    drawing = Drawing()
    entries: list[legend.Entry] = [
        (legend.rule("k-curve k-l0"), "covered by the first anchors"),
        (legend.mark("diamond", "k-solid k-s1 k-l1"), "knee"),
        (legend.mark("circle", "k-hollow k-l0"), "kept"),
    ]
    several = any(len(found) > 1 for found in shown.values())
    entries += [(legend.rule("k-faint"), "earlier rounds")] if several else []
    top = legend.legend(drawing, entries, 2.0) + 6.0
    highest = max(curve.total[-1] for found in shown.values() for curve in found)
    room = max(32.0, margin([compact(highest)]))
    for (label, found), box in zip(shown.items(), boxes(len(shown), top, drawing.width, height=_HEIGHT, margin=room), strict=True):
        longest = max(len(curve.total) for curve in found)
        heights = around([0.0, *(curve.total[-1] for curve in found)], box.bottom, box.top)
        panel = Panel(drawing, box, Scale(0.0, float(longest), box.left, box.right - 4), heights)
        panel.frame(label)
        ticks = [tick for tick in panel.x.ticks(5) if tick == int(tick)]
        panel.marks(ticks, [f"{tick:g}" for tick in ticks])
        for number, curve in enumerate(found):
            with drawing.titled(_told(curve)):
                _draw(panel, curve, last=number == len(found) - 1)
    caption = "Experiences covered, over the number of anchors chosen in turn; a curriculum may stop at the knee, where the curve bends."
    end = below(drawing, bottom(len(shown), top, height=_HEIGHT), "anchors chosen")
    return drawing.figure(end, name=name, title="Coverage curves", caption=caption)


def curves(told: Told) -> list[Curve]:
    """What was told of curves, checked: a record may hold anything."""
    found = []
    for stage, round, said in told:
        gains = said.get("gains")
        kept, knee, cards = (_count(said.get(key)) for key in ("kept", "knee", "cards"))
        if kept is None or not isinstance(gains, list) or not gains or not all(conforms(gain, float) for gain in gains):
            continue
        when = f"stage {stage + 1}, round {round + 1}"
        found.append(Curve(when=when, total=tuple(accumulate(map(float, gains))), kept=kept, knee=knee, cards=cards))
    return found


def _count(value: Any) -> int | None:
    return int(value) if conforms(value, int) else None


def _told(curve: Curve) -> str:
    pool = f" of {curve.cards}" if curve.cards is not None else ""
    knee = f", knee at {curve.knee}" if curve.knee is not None else ""
    return f"{curve.when}: kept {curve.kept}{pool}; {len(curve.total)} would cover {compact(curve.total[-1])}{knee}"


def _draw(panel: Panel, curve: Curve, *, last: bool) -> None:
    points: list[Point] = [(0.0, 0.0), *((float(count), value) for count, value in enumerate(curve.total, start=1))]
    if not last:
        panel.drawing.path([(panel.x(x), panel.y(y)) for x, y in points], "k-faint")
        return
    panel.curve(points, "k-l0")
    if curve.knee is not None and 0 <= curve.knee < len(points):
        x, y = points[curve.knee]
        panel.drawing.line((panel.x(x), panel.box.bottom), (panel.x(x), panel.y(y)), "k-base")
        panel.drawing.marker("diamond", (panel.x(x), panel.y(y)), "k-solid k-s1 k-l1", size=5.0)
        words, at = f"knee {curve.knee}: {compact(y)}", panel.x(x) + 9
        anchored: Anchor = "start" if at + width(words) < panel.box.right else "end"
        panel.drawing.text((at if anchored == "start" else at - 18, panel.y(y) + 16), words, "k-text k-halo", anchor=anchored)
    if 0 <= curve.kept < len(points) and curve.kept != curve.knee:
        x, y = points[curve.kept]
        panel.drawing.marker("circle", (panel.x(x), panel.y(y)), "k-hollow k-l0", size=4.5)
