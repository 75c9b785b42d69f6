"""R[stage, domain] as a heat map, and how each domain's score went over the stages."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xplearn.metrics.continual import Matrix
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Figure
from xplearn.report.figures import heat, legend
from xplearn.report.figures.kit import WIDTH, Drawing
from xplearn.report.figures.panel import Panel, below, bottom, boxes, runs_of
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.series import Look, entries, look
from xplearn.report.figures.words import SMALL, widest, wrapped

_LABELS, _CELL, _NARROWEST, _WIDEST = 124.0, 40.0, 66.0, 110.0
_HEIGHT = 110.0


def heatmap(matrix: Matrix, *, title: str = "", name: str = "heatmap") -> Figure | None:
    """The matrix with its scores in the cells; the stage that learned a domain is framed, what was not evaluated is a dash.

    Args:
        matrix: of one arm; None is drawn where nothing was evaluated.
        title: of the figure, by default naming the arm.
        name: of the figure.
    """
    if not matrix.scores:
        return None
    columns = len(matrix.domains)
    needed = min(_WIDEST, max([_NARROWEST, *(widest(domain) + 6 for domain in matrix.domains)]))
    drawing = Drawing(max(WIDTH, _LABELS + columns * needed + 8))
    cell = min(_WIDEST, (drawing.width - _LABELS - 8) / columns)
    heads = [wrapped(domain, cell - 4) for domain in matrix.domains]
    top = 4.0 + 17.0 * max(map(len, heads))
    for column, lines in enumerate(heads):
        for number, line in enumerate(lines):
            y = top - 17.0 * (len(lines) - number) + 12
            drawing.text((_LABELS + (column + 0.5) * cell, y), line, "k-text", anchor="middle")
    rows = [np.flatnonzero(~np.isnan(row)).size > 0 for row in matrix.values]
    shown = 1 + max(number for number, known in enumerate(rows) if known)
    for point in range(shown):
        _row(drawing, matrix, point, top + point * _CELL, cell)
    under = top + shown * _CELL + 8
    drawing.rect((_LABELS + 210, under + 3, 20, 14), "k-frame", round=2)
    drawing.text((_LABELS + 238, under + 14), "just learned", "k-muted")
    said = title or f"R[stage, domain]: {matrix.arm} arm"
    caption = "Score of each domain, 0 to 100, before learning and after each stage; framed where the stage has just learned the domain."
    return drawing.figure(heat.foot(drawing, _LABELS, under), name=name, title=said, caption=caption)


def _row(drawing: Drawing, matrix: Matrix, point: int, y: float, cell: float) -> None:
    learned = matrix.stream[point - 1] if point else ""
    drawing.text((4, y + (17 if learned else 25)), f"after {point}" if point else "before", "k-strong", size=SMALL)
    drawing.text((4, y + 33), learned, "k-muted", room=_LABELS - 10)
    for column, (domain, value) in enumerate(zip(matrix.domains, matrix.values[point].tolist(), strict=True)):
        x = _LABELS + column * cell
        if np.isnan(value):
            drawing.rect((x + 1.5, y + 1.5, cell - 3, _CELL - 3), "k-waiting", round=3)
            drawing.text((x + cell / 2, y + _CELL / 2 + 5), "–", "k-muted", anchor="middle")
            continue
        with drawing.titled(f"{domain} {f'after stage {point}, {learned}' if point else 'before learning'}: {tenths(value)}"):
            heat.cell(drawing, (x + 1.5, y + 1.5, cell - 3, _CELL - 3), value)
        if domain == learned:
            drawing.rect((x + 2.5, y + 2.5, cell - 5, _CELL - 5), "k-frame", round=2)


def forgetting(matrices: Mapping[str, Matrix], *, name: str = "forgetting") -> Figure | None:
    """Score over the stages, a small panel for each domain and a line for each matrix; the stages that learn the domain are marked.

    Args:
        matrices: by name of the run or configuration (and arm); None is drawn where none has two stages.
        name: of the figure.
    """
    shown = {label: matrix for label, matrix in matrices.items() if len(matrix.stream) > 1 and matrix.scores}
    if not shown:
        return None
    looks = [look(number, plain=matrix.arm == "plain") for number, matrix in enumerate(shown.values())]
    domains = list(dict.fromkeys(domain for matrix in shown.values() for domain in matrix.domains))
    drawing = Drawing()
    learns: list[legend.Entry] = [(legend.patch("k-band", "k-grid"), "stage that learns it")]
    top = legend.legend(drawing, [*entries(list(shown), looks), *learns], 2.0) + 6.0
    values = [value for matrix in shown.values() for value in matrix.values.ravel().tolist()]
    stages = max(len(matrix.stream) for matrix in shown.values())
    for domain, box in zip(domains, boxes(len(domains), top, drawing.width, height=_HEIGHT, margin=32.0), strict=True):
        heights = around([0.0, *values], box.bottom, box.top, floor=0.0, ceiling=100.0)
        panel = Panel(drawing, box, Scale(0.0, float(stages), box.left + 8, box.right - 6), heights)
        _domain(panel, domain, shown, looks)
    caption = (
        f"Score of each domain, 0 to 100, before learning (0) and after each of {stages} stages; a line that falls after its band forgets."
    )
    end = below(drawing, bottom(len(domains), top, height=_HEIGHT), "stages learned")
    return drawing.figure(end, name=name, title="What is kept over the stages", caption=caption)


def _domain(panel: Panel, domain: str, matrices: Mapping[str, Matrix], looks: list[Look]) -> None:
    stages, box = int(panel.x.high), panel.box
    half = (panel.x(1.0) - panel.x(0.0)) / 2
    learned = {place for matrix in matrices.values() for place, of in enumerate(matrix.stream, start=1) if of == domain}
    for place in sorted(learned):
        left, right = panel.x(place) - half, min(panel.x(place) + half, box.right)
        panel.drawing.rect((left, box.top, right - left, box.bottom - box.top), "k-band")
    panel.frame(domain)
    panel.marks(list(range(stages + 1)), [f"{place}" for place in range(stages + 1)])
    for (label, matrix), of in reversed(list(zip(matrices.items(), looks, strict=True))):
        if domain in matrix.domains:
            column = matrix.values[:, matrix.domains.index(domain)].tolist()
            with panel.drawing.titled(label):
                for stretch in runs_of([(place, None if np.isnan(value) else value) for place, value in enumerate(column)]):
                    panel.curve(stretch, of.line, marked=of.mark, shape=of.shape)
