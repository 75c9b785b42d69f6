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
from xplearn.report.figures.multiples import Multiples, Names, Slot, Table
from xplearn.report.figures.panel import Panel, below, margin
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.words import width

Told = Sequence[tuple[int, int, Mapping[str, Any]]]
"""As ``Run.explained()`` gives it: stage, round, and what the curriculum said."""


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


def coverage(told: Table[Told], *, names: Names | None = None, name: str = "coverage") -> Figure | None:
    """Experiences covered by the first anchors, a panel for each place and a curve for each round; knee and what was kept are marked.

    Args:
        told: ``Run.explained()`` by row and column; of several seeds the first is drawn. None is drawn where no curriculum told a curve.
        names: what panels are called where rows do not tell, e.g. as leaderboards call their configurations.
        name: of the figure.
    """
    shown = _shown(told)
    if not shown:
        return None
    every = [curve for cells in shown.values() for (found,) in cells.values() for curve in found]
    highest = max(curve.total[-1] for curve in every)
    multiples = Multiples(table=shown, height=130.0, small=64.0, margin=max(32.0, margin([compact(highest)])), names=names or {})
    drawing = multiples.drawing()
    entries: list[legend.Entry] = [
        (legend.rule("k-curve k-l0"), "covered by the first anchors"),
        (legend.mark("diamond", "k-solid k-s1 k-l1"), "knee"),
        (legend.mark("circle", "k-hollow k-l0"), "kept"),
    ]
    several = any(len(found) > 1 for cells in shown.values() for (found,) in cells.values())
    entries += [(legend.rule("k-faint"), "earlier rounds")] if several else []
    slots, end = multiples.place(drawing, legend.legend(drawing, entries, 2.0) + 6.0)
    longest = max(len(curve.total) for curve in every)
    for slot in slots:
        _panel(drawing, slot, (longest, highest) if multiples.dense else None)
    caption = "Experiences covered, over the number of anchors chosen in turn; a curriculum may stop at the knee, where the curve bends."
    return drawing.figure(below(drawing, end, "anchors chosen"), name=name, title="Coverage curves", caption=caption)


def _shown(told: Table[Told]) -> Table[list[Curve]]:
    """The first seed that has any curve, alone, of every place."""
    found = {
        row: {column: [first] for column, of in cells.items() if (first := next(filter(None, map(curves, of)), []))}
        for row, cells in told.items()
    }
    return {row: cells for row, cells in found.items() if cells}


def _panel(drawing: Drawing, slot: Slot[list[Curve]], scales: tuple[int, float] | None) -> None:
    """A place's curves; ``scales``, longest and highest, are given where panels are compared with one another."""
    (found,), box = slot.values, slot.box
    longest, highest = scales or (max(len(curve.total) for curve in found), max(curve.total[-1] for curve in found))
    x = Scale(0.0, float(longest), box.left, box.right - 4)
    panel = Panel(drawing, box, x, around([0.0, highest], box.bottom, box.top))
    panel.frame(slot.title, heights=compact if slot.left else lambda _: "")
    ticks = [tick for tick in panel.x.ticks(5 if scales is None else 3) if tick == int(tick)]
    panel.marks(ticks, [f"{tick:g}" if slot.below else "" for tick in ticks])
    for number, curve in enumerate(found):
        with drawing.titled(_told(slot, curve)):
            _draw(panel, curve, last=number == len(found) - 1, values=scales is None)


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


def _told(slot: Slot[list[Curve]], curve: Curve) -> str:
    pool = f" of {curve.cards}" if curve.cards is not None else ""
    knee = f", knee at {curve.knee}" if curve.knee is not None else ""
    return f"{slot.name}, {curve.when}: kept {curve.kept}{pool}; {len(curve.total)} would cover {compact(curve.total[-1])}{knee}"


def _draw(panel: Panel, curve: Curve, *, last: bool, values: bool) -> None:
    points: list[Point] = [(0.0, 0.0), *((float(count), value) for count, value in enumerate(curve.total, start=1))]
    if not last:
        panel.drawing.path([(panel.x(x), panel.y(y)) for x, y in points], "k-faint")
        return
    panel.curve(points, "k-l0")
    if curve.knee is not None and 0 <= curve.knee < len(points):
        x, y = points[curve.knee]
        panel.drawing.line((panel.x(x), panel.box.bottom), (panel.x(x), panel.y(y)), "k-base")
        panel.drawing.marker("diamond", (panel.x(x), panel.y(y)), "k-solid k-s1 k-l1", size=5.0)
        words, at = f"knee at {curve.knee}: {compact(y)} covered" if values else f"knee {curve.knee}", panel.x(x) + 9
        anchored: Anchor = "start" if at + width(words) < panel.box.right else "end"
        panel.drawing.text((at if anchored == "start" else at - 18, panel.y(y) + 16), words, "k-text k-halo", anchor=anchored)
    if 0 <= curve.kept < len(points) and curve.kept != curve.knee:
        x, y = points[curve.kept]
        panel.drawing.marker("circle", (panel.x(x), panel.y(y)), "k-hollow k-l0", size=4.5)
