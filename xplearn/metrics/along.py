"""What each choice changes: every label of an axis beside the first of that axis, all else alike.

A match is a pair of configurations that differ in that label alone, each as it would be used: with its bank where it has one. They are
paired by seed and task, and the differences of a seed and task averaged over the matches; what is told of those is what is told of any
paired difference. It speaks of these configurations: others may differ from their mean, as they do among themselves. All differences of a
board are one family for Holm's correction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xplearn.metrics.board import Contender, Difference, TaskScores
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.crossed import Estimator, grids, paired
from xplearn.metrics.differences import corrected, difference

_Configuration = frozenset[tuple[str, str]]
"""(axis, label) of each axis."""
_Used = Mapping[_Configuration, Mapping[int, TaskScores]]
"""Scores by seed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A label and the one that it stands beside."""

    axis: str
    label: str
    against: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a choice changes."""

    choice: Choice
    difference: Difference
    each: tuple[float, ...]
    """Mean difference of each match, in points: how far they agree."""
    configurations: int
    """Labels of the other axes that were run with either; with both, and a seed and task in common, they are a match."""
    seeds: int

    @property
    def matched(self) -> int:
        """Matches: configurations that were run with both labels."""
        return len(self.each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Those of one board, axis by axis."""

    found: tuple[Effect, ...] = ()
    unmatched: tuple[Choice, ...] = ()
    """Choices of which nothing can be told: no configuration was run with both labels."""


def along(contenders: Sequence[Contender], order: Mapping[str, Sequence[str]], bootstrap: Bootstrap) -> Effects:
    """The effect of every label but the first, on each axis of which there are several.

    Args:
        contenders: of one panel of tasks, at the end of the same stream; those without labels are left out.
        order: labels by axis; what it lacks comes after, as it appears.
        bootstrap: at which confidence intervals are given.

    Raises:
        ConfigError: a score is not finite.
    """
    used, estimator = _used(contenders), Estimator(bootstrap)
    choices = list(_choices(contenders, order))
    effects = [_effect(choice, used, estimator) for choice in choices]
    family = corrected([effect.difference if effect else None for effect in effects])
    return Effects(
        found=tuple(replace(effect, difference=one) for effect, one in zip(effects, family, strict=True) if effect and one),
        unmatched=tuple(choice for choice, effect in zip(choices, effects, strict=True) if effect is None),
    )


def _used(contenders: Sequence[Contender]) -> _Used:
    """Of each configuration the arm that would be used."""
    plain_first = sorted((one for one in contenders if one.axes), key=lambda one: one.arm == "experience")
    return {frozenset(one.axes.items()): one.scores for one in plain_first}


def _choices(contenders: Sequence[Contender], order: Mapping[str, Sequence[str]]) -> Iterator[Choice]:
    for axis in dict.fromkeys([*order, *(axis for one in contenders for axis in one.axes)]):
        there = dict.fromkeys(one.axes[axis] for one in contenders if axis in one.axes)
        labels = [label for label in dict.fromkeys([*order.get(axis, ()), *there]) if label in there]
        yield from (Choice(axis, label, labels[0]) for label in labels[1:])


def _effect(choice: Choice, used: _Used, estimator: Estimator) -> Effect | None:
    """Not yet corrected; None without a match."""
    ours, theirs = (_having(used, choice.axis, label) for label in (choice.label, choice.against))
    pairs = [(ours[rest], theirs[rest]) for rest in ours if rest in theirs]
    matches = [match for one, other in pairs if (match := paired(one, other)) is not None]
    grid = next(iter(grids(_averaged(pairs))), None) if matches else None
    if grid is None:
        return None
    return Effect(
        choice=choice,
        difference=difference(grid, estimator),
        each=tuple(match.mean for match in matches),
        configurations=len({*ours, *theirs}),
        seeds=len(grid.values),
    )


def _having(used: _Used, axis: str, label: str) -> _Used:
    """The configurations of a label, told by their other labels."""
    return {labels - {(axis, label)}: scores for labels, scores in used.items() if (axis, label) in labels}


def _averaged(pairs: Iterable[tuple[Mapping[int, TaskScores], Mapping[int, TaskScores]]]) -> dict[int, TaskScores]:
    """Mean difference of each seed and task, over the pairs of which both sides have it."""
    found: dict[int, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for ours, theirs in pairs:
        for seed in ours.keys() & theirs.keys():
            for task in ours[seed].keys() & theirs[seed].keys():
                found[seed][task].append(ours[seed][task] - theirs[seed][task])
    return {seed: {task: sum(each) / len(each) for task, each in by_task.items()} for seed, by_task in found.items()}
