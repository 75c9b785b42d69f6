"""The grid of a cross: every cell, run or not, and why not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xplearn.metrics.digits import tenths
from xplearn.record.cross import Cell, Cross, State
from xplearn.report.figure import Figure
from xplearn.report.figures import heat, legend
from xplearn.report.figures.kit import WIDTH, Area, Drawing, Point, hatch
from xplearn.report.figures.words import BOLD, SMALL, TEXT, apart, widest, width, wrapped

COLUMNS = ("stream", "environment")
"""Axes that make the columns, if there are such."""
STATES: tuple[State, ...] = ("failed", "unsound", "running", "waiting", "finished", "same")
"""Which of a place's cells tells why there is no score, first one first."""
_CELL, _HEIGHT, _THIN, _HEADING, _NARROWEST = 110.0, 34.0, 20.0, 26.0, 58.0
_FEWEST, _MOST = 84.0, 190.0
"""Room for the labels of rows."""

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The cells that differ in averaged axes only."""

    score: float | None
    state: State
    told: str
    partial: bool
    """Some of its cells have no score yet."""


def grid(
    cross: Cross, scores: Mapping[str, float], *, column: str = "", averaged: Collection[str] = ("seed",), name: str = "grid"
) -> Figure | None:
    """Every cell of a cross: its score as heat, or hatched for unsound, crossed for failed, dotted for waiting; reasons are tooltips.

    Args:
        cross: None is drawn of one without cells.
        scores: final score, 0 to 100, by id of the cell; a cell that is the same as another shows that one's.
        column: axis whose labels are the columns; by default ``stream`` or ``environment`` or, where there is neither, the last one.
        averaged: axes over which scores are averaged.
        name: of the figure.
    """
    axes = {axis: labels for axis, labels in cross.axes.items() if axis not in averaged}
    if not cross.cells or not axes:
        return None
    across = column if column in axes else next((axis for axis in COLUMNS if axis in axes), list(axes)[-1])
    others = [axis for axis in axes if axis != across]
    down = [axis for axis in others if len(axes[axis]) > 1] or others[-1:]
    places = _places(cross, scores, down, across)
    rows = list(dict.fromkeys(row for row, _ in places))
    labels = min(_MOST, max([_FEWEST, *(width(word) + 24 for word in (down[-1:] + [row[-1] for row in rows if row]))]))
    needed = min(_CELL, max([_NARROWEST, *(widest(label) + 8 for label in axes[across])]))
    labels = max(_FEWEST, min(labels, WIDTH - needed * len(axes[across]) - 8))
    drawing = Drawing(max(WIDTH, labels + len(axes[across]) * needed + 8))
    cells = _Cells(drawing, labels, min(_CELL, (drawing.width - labels - 6) / len(axes[across])))
    y = cells.heads(axes[across], down[-1] if down else "", legend.legend(drawing, _entries(list(places.values())), 2.0) + 6.0)
    above = {row: " · ".join(f"{axis}: {label}" for axis, label in zip(down, row[:-1], strict=False)) for row in rows}
    headings = _short(above.values(), drawing.width - 12, TEXT * BOLD)
    ends = _short([row[-1] for row in rows if row], labels - 22)
    heading = ""
    for row in rows:
        if above[row] != heading:
            heading = above[row]
            y = cells.heading(y, heading, headings[heading])
        y += cells.row(y, row[-1] if row else "", ends[row[-1]] if row else "", [places.get((row, label)) for label in axes[across]])
    title = f"Grid of the cross {cross.name}"
    return drawing.figure(heat.foot(drawing, 8, y + 6), name=name, title=title, caption=_caption(cross, averaged, down, across))


def _short(names: Iterable[str], room: float, size: float = SMALL) -> dict[str, str]:
    """What is shown of each name."""
    found = list(dict.fromkeys(names))
    return dict(zip(found, apart(found, room, size), strict=True))


def _places(cross: Cross, scores: Mapping[str, float], down: Sequence[str], across: str) -> dict[tuple[Labels, str], Place]:
    known = {cell.id: cell for cell in cross.cells}
    found: dict[tuple[Labels, str], list[Cell]] = {}
    for cell in cross.cells:
        found.setdefault((tuple(cell.axes[axis] for axis in down), cell.axes[across]), []).append(cell)
    return {place: _place(cells, known, scores) for place, cells in found.items()}


def _place(cells: Sequence[Cell], known: Mapping[str, Cell], scores: Mapping[str, float]) -> Place:
    meant = [known.get(cell.reason, cell) if cell.state == "same" else cell for cell in cells]
    values = [scores[cell.id] for cell in meant if cell.id in scores]
    unscored = [cell for cell in meant if cell.id not in scores] or meant
    first = min(unscored, key=lambda cell: STATES.index(cell.state))
    told = "\n".join(
        f"{cell.id}: {cell.state}{f' as {of.id}' if of is not cell else ''}"
        + (f", {tenths(scores[of.id])}" if of.id in scores else "")
        + (f": {of.reason}" if of.reason and of.state != "same" else "")
        for cell, of in zip(cells, meant, strict=True)
    )
    score = sum(values) / len(values) if values else None
    return Place(score=score, state=first.state, told=told, partial=0 < len(values) < len(cells))


def _entries(places: Sequence[Place]) -> list[legend.Entry]:
    states = [state for state in STATES if any(place.score is None and place.state == state for place in places)]
    found: list[legend.Entry] = [(partial(_sample, state), state) for state in states]
    return [*found, (legend.patch("k-band", "k-waiting"), "some seeds missing")] if any(place.partial for place in places) else found


def _sample(state: State, drawing: Drawing, at: Point) -> None:
    _blank(drawing, (at[0] - 11, at[1] - 8, 22, 16), state)


@dataclass(frozen=True, slots=True)
class _Cells:
    """Where they stand."""

    drawing: Drawing
    left: float
    wide: float

    def heads(self, labels: Sequence[str], axis: str, top: float) -> float:
        """The labels of the columns, and the axis of the rows."""
        heads = [wrapped(label, self.wide - 4) for label in labels]
        end = top + 17.0 * max(map(len, heads)) + 2
        self.drawing.text((6, end - 6), axis, "k-muted", room=self.left - 12)
        for place, lines in enumerate(heads):
            for number, line in enumerate(lines):
                y = end - 17.0 * (len(lines) - number) + 11
                self.drawing.text((self.left + (place + 0.5) * self.wide, y), line, "k-text", anchor="middle")
        return end

    def heading(self, y: float, heading: str, short: str) -> float:
        """What the rows below have in common."""
        self.drawing.line((4, y + 3), (self.drawing.width - 4, y + 3), "k-grid")
        self.drawing.text((6, y + 20), heading, "k-strong", size=TEXT, short=short)
        return y + _HEADING

    def row(self, y: float, label: str, short: str, places: Sequence[Place | None]) -> float:
        """A row of cells, thin where none of them may ever have a score; a place without any stays empty. Returns its height."""
        never = all(place is None or place.state == "unsound" for place in places)
        high = _THIN if never else _HEIGHT
        self.drawing.text((14, y + high / 2 + 5), label, "k-muted" if never else "k-text", short=short)
        for number, place in enumerate(places):
            if place is not None:
                with self.drawing.titled(place.told):
                    _cell(self.drawing, (self.left + number * self.wide + 1.5, y + 1.5, self.wide - 3, high - 3), place)
        return high


def _cell(drawing: Drawing, area: Area, place: Place) -> None:
    if place.score is None:
        _blank(drawing, area, place.state)
        return
    heat.cell(drawing, area, place.score)
    if place.partial:
        x, y, width, height = area
        drawing.rect((x + 2, y + 2, width - 4, height - 4), "k-waiting", round=2)


def _blank(drawing: Drawing, area: Area, state: State) -> None:
    """A cell without a score."""
    x, y, width, height = area
    drawing.rect(area, "k-empty", round=3)
    middle, half = (x + width / 2, y + height / 2), min(5.5, height / 3)
    if state == "unsound":
        drawing.strokes(hatch(area), "k-unsound")
    elif state == "failed":
        (across, along), turns = middle, ((-half, -half, half, half), (-half, half, half, -half))
        drawing.strokes([((across + a, along + b), (across + c, along + d)) for a, b, c, d in turns], "k-failed")
    else:
        for shift in (-6.0, 0.0, 6.0):
            filled = "k-none" if state == "running" else "k-hollow k-none"
            drawing.marker("circle", (middle[0] + shift, middle[1]), filled, size=1.8 if state == "running" else 1.2)


def _caption(cross: Cross, averaged: Collection[str], down: Sequence[str], across: str) -> str:
    kept = [(axis, labels) for axis, labels in cross.axes.items() if axis not in averaged]
    fixed = "".join(f"; {axis} is {labels[0]}" for axis, labels in kept if len(labels) == 1 and axis not in (*down, across))
    mean = ", mean over seeds" if any(len(labels) > 1 for axis, labels in cross.axes.items() if axis in averaged) else ""
    states = [cell.state for cell in cross.cells]
    counts = ", ".join(f"{states.count(state)} {state}" for state in reversed(STATES) if state in states)
    rows = " × ".join(down) or "one row"
    return f"{rows} by {across}{fixed}: final score, 0 to 100{mean}. Of {len(cross.cells)} cells {counts}."
