"""Learning round by round: training scores of both arms, what experience gained, and the size of the bank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from xplearn.metrics.digits import tenths
from xplearn.metrics.rounds import Round
from xplearn.report.figure import Figure
from xplearn.report.figures import legend
from xplearn.report.figures.kit import compact
from xplearn.report.figures.multiples import Multiples, Names, Slot, Table
from xplearn.report.figures.panel import Box, Panel, below, margin, runs_of
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.series import Look, look
from xplearn.types import Arm

FEWEST = 2
"""Rounds that make a curve."""
_ARMS: dict[Arm, Look] = {"plain": replace(look(1, plain=True), shape="square"), "experience": look(0)}
_TOLD: dict[Arm, str] = {"plain": "plain arm", "experience": "experience arm"}

Rounds = Sequence[Round]


def learning(rounds: Table[Rounds], *, names: Names | None = None, name: str = "learning") -> Figure | None:
    """Mean training score by round, a small panel for each place and a line for each arm; stages are parted by a rule.

    Args:
        rounds: ``report.learning.rounds`` by row and column, one for each seed: their mean stands out. None is drawn where none has two
            rounds with scores.
        names: what panels are called where rows do not tell, e.g. as leaderboards call their configurations.
        name: of the figure.
    """
    shown = _shown(rounds, lambda found: bool(found.scores))
    if not shown:
        return None
    multiples = Multiples(table=shown, height=110.0, small=48.0, margin=32.0, names=names or {})
    drawing = multiples.drawing()
    arms = [arm for arm in _ARMS if any(arm in found.scores for of in _all(shown) for found in of)]
    told = {"plain": "training"} if arms == ["plain"] else _TOLD
    entries: list[legend.Entry] = [(_ARMS[arm].sample, told[arm]) for arm in arms]
    entries += [(legend.rule("k-faint"), "each seed")] if _seeds(shown) else []
    slots, end = multiples.place(drawing, legend.legend(drawing, [*entries, *_parted(shown)], 2.0) + 6.0)
    values = [score for of in _all(shown) for found in of for score in found.scores.values()]
    longest = _lengths(shown) if multiples.dense else _length
    for slot in slots:
        box, of = slot.box, mean(slot.values)
        panel = Panel(drawing, box, _along(longest(slot), box), around([0.0, *values], box.bottom, box.top, floor=0.0, ceiling=100.0))
        panel.frame(slot.title, heights=compact if slot.left else _silent)
        _stages(panel, of, words=slot.below)
        for arm in arms:
            with drawing.titled(f"{slot.name}, {told[arm]}"):
                _curves(panel, of, slot.values, arm)
    by = ", by arm" if len(arms) > 1 else ""
    caption = f"Mean score of each round's training episodes, 0 to 100{by}; the same scale in every panel."
    return drawing.figure(below(drawing, end, "round"), name=name, title="Learning curves", caption=caption)


def gain_and_bank(rounds: Table[Rounds], *, names: Names | None = None, name: str = "gain-and-bank") -> Figure | None:
    """What experience gained in each round, as bars around zero, above the size of the bank, as an area; a panel for each place.

    Args:
        rounds: as in ``learning``, seeds averaged; None is drawn where none has two rounds with a gain or a bank.
        names: what panels are called where rows do not tell, e.g. as leaderboards call their configurations.
        name: of the figure.
    """
    shown = _shown(rounds, lambda found: found.gain is not None or bool(found.bank))
    if not shown:
        return None
    gains = [found.gain for of in _all(shown) for found in of if found.gain is not None]
    banks = [float(found.bank or 0) for of in _all(shown) for found in of]
    bank, small = 52.0, 22.0
    multiples = Multiples(
        table=shown,
        height=bank + 110.0 * bool(gains),
        small=small + 48.0 * bool(gains),
        margin=max(32.0, margin([compact(max(banks))])),
        names=names or {},
    )
    drawing = multiples.drawing()
    slots, end = multiples.place(drawing, legend.legend(drawing, [*_bars(shown), *_parted(shown)], 2.0) + 6.0)
    share = small if multiples.dense else bank
    longest = _lengths(shown) if multiples.dense else _length
    for slot in slots:
        box, of = slot.box, mean(slot.values)
        upper, lower = (replace(box, bottom=box.bottom - share - 14), replace(box, top=box.bottom - share + 4))
        if gains:
            _gains(Panel(drawing, upper, _along(longest(slot), box), around([0.0, *gains], upper.bottom, upper.top)), slot, of)
        under = Panel(drawing, lower, _along(longest(slot), box), Scale(0.0, max(1.0, *banks), lower.bottom, lower.top))
        _bank(under, "" if gains else slot.title, slot, of)
    gained = "Training score of the experience arm minus the plain arm's, in points, where both acted; below it the size of the bank."
    title, caption = ("Gain and bank", gained) if gains else ("Bank", "Experiences in the bank, by round.")
    return drawing.figure(below(drawing, end, "round"), name=name, title=f"{title} over the rounds", caption=caption)


def _bars(shown: Table[Rounds]) -> list[legend.Entry]:
    """Of the bars and areas that are drawn."""
    means = [found for cells in shown.values() for seeds in cells.values() for found in mean(seeds)]
    gains = [found.gain for found in means if found.gain is not None]
    known: list[tuple[bool, legend.Entry]] = [
        (any(gain > 0 for gain in gains), (legend.patch("k-pos"), "experience helped")),
        (any(gain < 0 for gain in gains), (legend.patch("k-neg k-wash"), "experience hurt")),
        (any(found.bank for found in means), (legend.patch("k-s5 k-shade", "k-thin k-l5"), "experiences in the bank")),
    ]
    return [entry for drawn, entry in known if drawn]


def mean(seeds: Sequence[Rounds]) -> Rounds:
    """Round by round, over the seeds that have come so far."""
    return [_mean([of[number] for of in seeds if number < len(of)]) for number in range(max(map(len, seeds)))]


def _mean(seeds: Sequence[Round]) -> Round:
    scores = {arm: [found.scores[arm] for found in seeds if arm in found.scores] for arm in _ARMS}
    banks = [found.bank for found in seeds if found.bank is not None]
    return Round(
        place=seeds[0].place,
        scores={arm: sum(values) / len(values) for arm, values in scores.items() if values},
        gain_mean=None,
        bank=round(sum(banks) / len(banks)) if banks else None,
    )


def _shown(rounds: Table[Rounds], known: Callable[[Round], bool]) -> Table[Rounds]:
    found = {
        row: {column: seeds for column, of in cells.items() if (seeds := [one for one in of if sum(map(known, one)) >= FEWEST])}
        for row, cells in rounds.items()
    }
    return {row: cells for row, cells in found.items() if cells}


def _all(shown: Table[Rounds]) -> list[Rounds]:
    return [of for cells in shown.values() for seeds in cells.values() for of in seeds]


def _seeds(shown: Table[Rounds]) -> bool:
    return any(len(seeds) > 1 for cells in shown.values() for seeds in cells.values())


def _silent(_: float) -> str:
    return ""


def _curves(panel: Panel, of: Rounds, seeds: Sequence[Rounds], arm: Arm) -> None:
    """The mean, and behind it each seed where there are several."""
    for one in seeds if len(seeds) > 1 else ():
        for stretch in runs_of([(number, found.scores.get(arm)) for number, found in enumerate(one, start=1)]):
            panel.drawing.path([(panel.x(x), panel.y(y)) for x, y in stretch], "k-faint")
    size = 3.8 if panel.box.bottom - panel.box.top > 60 else 2.6
    for stretch in runs_of([(number, found.scores.get(arm)) for number, found in enumerate(of, start=1)]):
        panel.curve(stretch, _ARMS[arm].line, marked=_ARMS[arm].mark, shape=_ARMS[arm].shape, size=size)


def _length(slot: Slot[Rounds]) -> int:
    return max(map(len, slot.values))


def _lengths(shown: Table[Rounds]) -> Callable[[Slot[Rounds]], int]:
    """Of the longest in the column, so that what stands one below the other is the same round."""
    found: dict[str, int] = {}
    for cells in shown.values():
        for column, seeds in cells.items():
            found[column] = max(found.get(column, 0), *map(len, seeds))
    return lambda slot: found[slot.column]


def _along(count: int, box: Box) -> Scale:
    pad = min(8.0, (box.right - box.left) / (2 * count))
    return Scale(1.0, float(count), box.left + pad, box.right - pad)


def _parted(shown: Table[Rounds]) -> list[legend.Entry]:
    several = any(len({found.place[0] for found in of}) > 1 for of in _all(shown))
    return [(legend.rule("k-base", upright=True), "next stage")] if several else []


def _stages(panel: Panel, rounds: Rounds, *, words: bool = True) -> None:
    """A rule before the first round of each further stage, and the numbers of rounds below."""
    for number, (before, after) in enumerate(pairwise(rounds), start=1):
        if before.place[0] != after.place[0]:
            at = panel.x(number + 0.5)
            panel.drawing.line((at, panel.box.top), (at, panel.box.bottom), "k-base")
    if words:
        ticks = sorted({1.0, *(tick for tick in panel.x.ticks(6) if tick >= 1 and tick == int(tick)), panel.x.high})
        panel.marks(ticks, [f"{tick:g}" for tick in ticks])


def _gains(panel: Panel, slot: Slot[Rounds], rounds: Rounds) -> None:
    if all(found.gain is None for found in rounds):
        panel.title(slot.title)
        middle = (panel.box.left + panel.box.right) / 2, (panel.box.top + panel.box.bottom) / 2 + 4
        panel.drawing.text(middle, "one arm", "k-muted", anchor="middle")
        return
    panel.frame(slot.title, heights=_signed if slot.left else _silent, floor=False)
    _stages(panel, rounds, words=False)
    wide = min(16.0, 0.76 * (panel.box.right - panel.box.left) / len(rounds))
    for number, found in enumerate(rounds, start=1):
        if found.gain is not None:
            zero, end = panel.y(0.0), panel.y(found.gain)
            with panel.drawing.titled(f"{slot.name}, round {number}: {tenths(found.gain, signed=True)} points"):
                panel.drawing.rect((panel.x(number) - wide / 2, zero, wide, end - zero), "k-pos" if found.gain >= 0 else "k-neg k-wash")
    panel.drawing.line((panel.box.left, panel.y(0.0)), (panel.box.right, panel.y(0.0)), "k-zero")


def _signed(value: float) -> str:
    return f"{value:+g}".replace("-", "−") if value else "0"


def _bank(panel: Panel, title: str, slot: Slot[Rounds], rounds: Rounds) -> None:
    panel.frame(title, values=(0.0, panel.y.high), heights=compact if slot.left else _silent)
    _stages(panel, rounds, words=slot.below)
    with panel.drawing.titled(f"{slot.name}: {rounds[-1].bank or 0:,} experiences"):
        for stretch in runs_of(
            [(number, None if found.bank is None else float(found.bank)) for number, found in enumerate(rounds, start=1)]
        ):
            places = [(panel.x(x), panel.y(y)) for x, y in stretch]
            ends = [(places[-1][0], panel.box.bottom), (places[0][0], panel.box.bottom)]
            panel.drawing.path([*places, *ends], "k-s5 k-shade", closed=True)
            panel.drawing.path(places, "k-thin k-l5")
