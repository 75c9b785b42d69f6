"""Made-up boards, matrices, rounds and crosses, as large and as ugly as real ones."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np

from xplearn.metrics.along import Choice, Effect, Effects
from xplearn.metrics.board import Board, Contender, Difference, Standing
from xplearn.metrics.bootstrap import Bootstrap, Interval
from xplearn.metrics.continual import Matrix
from xplearn.metrics.rounds import Round
from xplearn.metrics.spending import Spent, Upkeep
from xplearn.record.cross import Cell, Cross

HOSTILE = "</text><script>alert(1)</script>\"&'<|im_start|>\x1b[31m\u202eevil\x00"
LONG = "smollm2-360m-instruct x sqlite-with-wal x core.nearest-k4-every-step x expweaver.latent x edge.evolve x edge.distill-beta0.1"
CONFIGURATIONS = (
    "hamo",
    "expweaver",
    "edge",
    LONG[:96],
    "grpo",
    "clone",
    "hamo x edge.distill",
    "expweaver x hamo.coverage",
    "random",
    "none",
)
DOMAINS = ("scienceworld.text", "alfworld.text", "webshop.text", "expbench.gsm8k")


def interval(mean: float, half: float | None) -> Interval:
    return Interval(mean=mean, low=None if half is None else mean - half, high=None if half is None else mean + half * 0.9)


def difference(mean: float, half: float, tasks: int = 160) -> Difference:
    p = min(1.0, float(np.exp(-2.5 * (mean / half) ** 2)))
    worse = max(0, int(tasks * (0.25 - mean / 100)))
    return Difference(interval=interval(mean, half), p=p, p_holm=min(1.0, 3 * p), better=tasks // 2, worse=worse, tasks=tasks)


def board(names=CONFIGURATIONS, *, title="alfworld.text", arms=True, seeds=(0, 1, 2), detectable=4.2, base=31.4) -> Board:
    """Each name in both arms, from best to worst."""
    thresholds = np.linspace(0, 100, 21)
    found = []
    for number, name in enumerate(names):
        for arm in ("experience", "plain") if arms else ("plain",):
            mean = max(2.0, 66.0 - 40.0 * number / max(9, len(names) - 1) - (0.0 if arm == "experience" else 5.0 + number % 3))
            found.append(_standing(name, arm, mean, number, seeds, thresholds, base))
    found.sort(key=lambda standing: -standing.mean.mean)
    best = found[0].mean.mean
    standings = tuple(_placed(standing, best, number) for number, standing in enumerate(found))
    panel = dict.fromkeys(DOMAINS, 40)
    environments = dict.fromkeys(DOMAINS, "1.0 grammar-2 0f3a")
    return Board(
        title=title,
        panel=panel,
        environments=environments,
        standings=standings,
        thresholds=thresholds,
        detectable=detectable,
        confidence=0.95,
    )


def tied(board: Board, mean: float | None = None) -> Board:
    """The same, nobody told from anybody; with ``mean``, all of them equal."""
    alike = [{} if mean is None else {"mean": interval(mean, None), "iqm": interval(mean, None)} for _ in board.standings]
    standings = [dataclasses.replace(of, tied=True, **same) for of, same in zip(board.standings, alike, strict=True)]
    return dataclasses.replace(board, standings=tuple(standings))


def _standing(name, arm, mean, number, seeds, thresholds, base):
    draw = random.Random(f"{name} {arm}")
    scores = {seed: {("d", str(task)): min(100.0, max(0.0, draw.gauss(mean, 25))) for task in range(40)} for seed in seeds}
    plain = {seed: {task: max(0.0, score - draw.uniform(0, 12)) for task, score in by.items()} for seed, by in scores.items()}
    shown = arm == "experience"
    contender = Contender(name=name + "+Harness" * shown, arm=arm, scores=scores, plain=plain if shown else {}, runs=[f"{name}-s0"])
    share = 1 / (1 + np.exp((thresholds - mean) / 14))
    return Standing(
        contender=contender,
        mean=interval(mean, 3.1 + number % 4),
        iqm=interval(mean + 1.5, 3.4),
        versus_base=difference(mean - base, 4.0 + number % 3),
        versus_plain=difference(5.0 + number % 3 - 6.5 * (number == 3), 2.9) if shown else None,
        versus_best=None,
        tied=False,
        profile=share,
        band=(share * 0.9, np.minimum(1, share * 1.1)),
    )


def _placed(standing, best, place):
    versus = difference(standing.mean.mean - best, 3.5) if place else None
    values = {name: getattr(standing, name) for name in Standing.__slots__} | {"versus_best": versus}
    return Standing(**values | {"tied": versus is None or versus.p_holm >= 0.05})


def effects(labels=CONFIGURATIONS) -> Effects:
    """Of two axes with these labels each, from much better to much worse."""
    first, *others = labels
    choices = [Choice(axis, label, first) for axis in ("selector", first) for label in others]
    found = [
        Effect(choice=choice, difference=difference(12.0 - 3 * number, 4.0), each=(-20.0, 25.0), configurations=3, seeds=1)
        for number, choice in enumerate(choices)
    ]
    return Effects(found=tuple(found), unmatched=(Choice("learner", labels[-1], first),))


def matrix(arm="experience", *, domains=DOMAINS, reached=4, seed=0) -> Matrix:
    draw = random.Random(seed)
    scores = {}
    for column, domain in enumerate(domains):
        for point in range(1 + min(reached, len(domains))):
            mean = 20 + 12 * column + (35 if point > column else 0) - 4 * max(0, point - column - 1) + (4 if arm == "experience" else 0)
            scores[point, domain] = {str(task): min(100.0, max(0.0, draw.gauss(mean, 20))) for task in range(30)}
    return Matrix(arm=arm, domains=tuple(domains), stream=tuple(domains), scores=scores, bootstrap=Bootstrap(resamples=50))


def rounds(count=20, *, stages=2, seed=0, both=True) -> list[Round]:
    draw = random.Random(seed)
    found = []
    for number in range(count):
        plain = 25 + 30 * (1 - 0.9**number) + draw.gauss(0, 4)
        shown = plain + 8 * 0.9**number + draw.gauss(0, 3)
        scores = {"plain": plain, "experience": shown} if both else {"plain": plain}
        place = (number * stages // count, number % max(1, count // stages))
        found.append(Round(place=place, scores=scores, gain_mean=0.1, bank=min(120, 8 * (number + 1)) - 10 * (number == 13)))
    return found


def told(pool=180, knee=24, *, stages=2):
    gains = [max(1, round(30 * 0.93**number)) for number in range(70)]
    return [(stage, 0, {"gains": gains[stage * 2 :], "kept": knee, "knee": knee, "cards": pool * 3}) for stage in range(stages)]


def spendings(scale=1.0):
    def spent(episodes, read, written, seconds):
        return Spent(episodes=episodes, tokens_in=int(read * scale), tokens_out=int(written * scale), seconds=seconds * scale)

    return {
        ("demonstrations", "plain"): spent(40, 81_000, 3_400, 12.0),
        ("training", "plain"): spent(160, 420_000, 31_000, 210.0),
        ("training", "experience"): spent(160, 640_000, 33_000, 260.0),
        ("evaluation", "plain"): spent(80, 200_000, 15_000, 105.0),
        ("evaluation", "experience"): spent(80, 310_000, 15_000, 133.0),
    }


def upkeep(**values) -> Upkeep:
    bank = {"bank": 120, "content_bytes": 48_000, "added": 130, "changed": 4, "removed": 10}
    return Upkeep(**bank | {"rounds": 20, "rounds_written": 14, "record_seconds": 8.5, "learner_seconds": 310.0} | values)


def cross() -> Cross:
    axes = {
        "selector": ["core.nearest", "edge.retrieve", "core.none"],
        "conditioner": ["core.prompt", "expweaver.latent"],
        "learner": ["core.clone", "core.grpo", "edge.distill", "none"],
        "stream": list(DOMAINS),
        "seed": ["0", "1"],
    }
    cells = [_cell(dict(zip(axes, labels, strict=True))) for labels in itertools.product(*axes.values())]
    return Cross(name="cross", axes=axes, cells=cells)


def _cell(axes) -> Cell:
    id, state, reason = " ".join(axes.values()), "finished", ""
    if axes["conditioner"] == "expweaver.latent" and axes["learner"] in ("edge.distill", "none"):
        state, reason = "unsound", "conditioner 'expweaver.latent' requires 'learner.conditioned'; learners that provide it: core.clone"
    elif axes["stream"] == "webshop.text" and axes["learner"] == "core.grpo":
        state, reason = "failed", "EnvironmentDiedError: environment 'webshop.text': exceeded 60 s"
    elif axes["selector"] == "core.none" and axes["conditioner"] == "core.prompt" and axes["learner"] == "none":
        state = "waiting"
    elif axes["selector"] == "core.none" and axes["conditioner"] == "expweaver.latent":
        state, reason = "same", id.replace("expweaver.latent", "core.prompt")
    return Cell(id=id, axes=axes, state=state, reason=reason, run="runs-0001" if state == "finished" else "")


def cross_scores(found: Cross) -> dict[str, float]:
    draw = random.Random(0)
    return {cell.id: draw.uniform(5, 80) for cell in found.cells if cell.state == "finished"}
