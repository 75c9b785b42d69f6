"""Learning round by round: training scores of both arms, what experience gained, and the size of the bank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from xplearn.metrics.rounds import Round
from xplearn.report.figure import Figure
from xplearn.report.figures import legend
from xplearn.report.figures.kit import Drawing, compact
from xplearn.report.figures.panel import Box, Panel, below, bottom, boxes, margin, runs_of
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.series import Look, look
from xplearn.types import Arm

FEWEST = 2
"""Rounds that make a curve."""
_HEIGHT, _BANK = 110.0, 52.0
_ARMS: dict[Arm, Look] = {"plain": replace(look(1, plain=True), shape="square"), "experience": look(0)}

Rounds = Sequence[Round]


def learning(rounds: Mapping[str, Rounds], *, name: str = "learning") -> Figure | None:
    """Mean training score by round, a small panel for each run and a line for each arm; stages are parted by a rule.

    Args:
        rounds: by name of the run, as ``report.learning.rounds`` gives them; None is drawn where none has two rounds with scores.
        name: of the figure.
    """
    shown = _shown(rounds, lambda found: bool(found.scores))
    if not shown:
        return None
    drawing = Drawing()
    arms = [arm for arm in _ARMS if any(arm in found.scores for of in shown.values() for found in of)]
    told = {"plain": "plain arm", "experience": "experience arm"}
    top = legend.legend(drawing, [*((_ARMS[arm].sample, told[arm]) for arm in arms), *_parted(shown)], 2.0) + 6.0
    values = [score for of in shown.values() for found in of for score in found.scores.values()]
    for (label, of), box in zip(shown.items(), boxes(len(shown), top, drawing.width, height=_HEIGHT, margin=32.0), strict=True):
        heights = around([0.0, *values], box.bottom, box.top, floor=0.0, ceiling=100.0)
        panel = Panel(drawing, box, _along(of, box), heights)
        panel.frame(label)
        _stages(panel, of)
        for arm in arms:
            for stretch in runs_of([(number, found.scores.get(arm)) for number, found in enumerate(of, start=1)]):
                panel.curve(stretch, _ARMS[arm].line, marked=_ARMS[arm].mark, shape=_ARMS[arm].shape)
    caption = "Mean score of each round's training episodes, 0 to 100, by arm; the same scale in every panel."
    end = below(drawing, bottom(len(shown), top, height=_HEIGHT), "round")
    return drawing.figure(end, name=name, title="Learning curves", caption=caption)


def gain_and_bank(rounds: Mapping[str, Rounds], *, name: str = "gain-and-bank") -> Figure | None:
    """What experience gained in each round, as bars around zero, above the size of the bank, as an area; a panel for each run.

    Args:
        rounds: by name of the run; None is drawn where none has two rounds with a gain or a bank.
        name: of the figure.
    """
    shown = _shown(rounds, lambda found: found.gain is not None or bool(found.bank))
    if not shown:
        return None
    drawing = Drawing()
    entries: list[legend.Entry] = [
        (legend.patch("k-pos"), "experience helped"),
        (legend.patch("k-neg k-wash"), "it hurt"),
        (legend.patch("k-s5 k-shade", "k-thin k-l5"), "experiences in the bank"),
    ]
    top = legend.legend(drawing, [*entries, *_parted(shown)], 2.0) + 6.0
    gains = [found.gain for of in shown.values() for found in of if found.gain is not None]
    banks = [float(found.bank or 0) for of in shown.values() for found in of]
    room = max(32.0, margin([compact(max(banks))]))
    height = (_HEIGHT if gains else 0.0) + _BANK
    for (label, of), box in zip(shown.items(), boxes(len(shown), top, drawing.width, height=height, margin=room), strict=True):
        upper, lower = (replace(box, bottom=box.bottom - _BANK - 12), replace(box, top=box.bottom - _BANK + 6))
        if gains:
            _gains(Panel(drawing, upper, _along(of, box), around([0.0, *gains], upper.bottom, upper.top)), label, of)
        under = Panel(drawing, lower, _along(of, box), Scale(0.0, max(1.0, *banks), lower.bottom, lower.top))
        _bank(under, "" if gains else label, of)
    caption = "Training score of the experience arm minus the plain arm's, in points, by round; below it the size of the bank."
    end = below(drawing, bottom(len(shown), top, height=height), "round")
    return drawing.figure(end, name=name, title="Gain and bank over the rounds", caption=caption)


def _shown(rounds: Mapping[str, Rounds], known: Callable[[Round], bool]) -> dict[str, Rounds]:
    return {label: of for label, of in rounds.items() if sum(map(known, of)) >= FEWEST}


def _along(rounds: Rounds, box: Box) -> Scale:
    pad = min(8.0, (box.right - box.left) / (2 * len(rounds)))
    return Scale(1.0, float(len(rounds)), box.left + pad, box.right - pad)


def _parted(shown: Mapping[str, Rounds]) -> list[legend.Entry]:
    several = any(len({found.place[0] for found in of}) > 1 for of in shown.values())
    return [(legend.rule("k-base", upright=True), "next stage")] if several else []


def _stages(panel: Panel, rounds: Rounds, *, words: bool = True) -> None:
    """A rule before the first round of each further stage, and the numbers of rounds below."""
    for number, (before, after) in enumerate(pairwise(rounds), start=1):
        if before.place[0] != after.place[0]:
            at = panel.x(number + 0.5)
            panel.drawing.line((at, panel.box.top), (at, panel.box.bottom), "k-base")
    if words:
        ticks = sorted({1.0, *(tick for tick in panel.x.ticks(6) if tick >= 1 and tick == int(tick)), float(len(rounds))})
        panel.marks(ticks, [f"{tick:g}" for tick in ticks])


def _gains(panel: Panel, label: str, rounds: Rounds) -> None:
    panel.frame(label, heights=lambda value: f"{value:+g}".replace("-", "−") if value else "0")
    _stages(panel, rounds, words=False)
    wide = min(16.0, 0.76 * (panel.box.right - panel.box.left) / len(rounds))
    for number, found in enumerate(rounds, start=1):
        if found.gain is not None:
            zero, end = panel.y(0.0), panel.y(found.gain)
            with panel.drawing.titled(f"round {number}: {found.gain:+z.1f} points"):
                panel.drawing.rect((panel.x(number) - wide / 2, zero, wide, end - zero), "k-pos" if found.gain >= 0 else "k-neg k-wash")
    panel.drawing.line((panel.box.left, panel.y(0.0)), (panel.box.right, panel.y(0.0)), "k-zero")


def _bank(panel: Panel, label: str, rounds: Rounds) -> None:
    panel.frame(label, values=(0.0, panel.y.high))
    _stages(panel, rounds)
    for stretch in runs_of([(number, None if found.bank is None else float(found.bank)) for number, found in enumerate(rounds, start=1)]):
        places = [(panel.x(x), panel.y(y)) for x, y in stretch]
        ends = [(places[-1][0], panel.box.bottom), (places[0][0], panel.box.bottom)]
        panel.drawing.path([*places, *ends], "k-s5 k-shade", closed=True)
        panel.drawing.path(places, "k-thin k-l5")
