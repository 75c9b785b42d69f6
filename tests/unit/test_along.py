"""What each choice changes, worked out by hand."""

from dataclasses import replace

import pytest

from xplearn.metrics.along import Choice, along
from xplearn.metrics.board import Contender
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.leaderboard import leaderboard

ALL = Bootstrap()
ORDER = {"selector": ["nearest", "shortest"], "learner": ["clone", "grpo"]}


def contender(selector, learner, *by_seed, arm="plain", **others):
    """Scores of tasks t0, t1, … from one list for each seed; None: that seed was not run."""
    scores = {seed: {("d", f"t{task}"): float(score) for task, score in enumerate(row)} for seed, row in enumerate(by_seed) if row}
    axes = {"selector": selector, "learner": learner, **others}
    return Contender(name=" · ".join(axes.values()) + "+Harness" * (arm == "experience"), arm=arm, scores=scores, axes=axes)


def effects(*contenders, order=ORDER):
    return {effect.choice: effect for effect in along(contenders, order, ALL).found}


SELECTOR, LEARNER = Choice("selector", "shortest", "nearest"), Choice("learner", "grpo", "clone")
SQUARE = (
    contender("nearest", "clone", [10, 20, 30]),
    contender("shortest", "clone", [16, 20, 36]),
    contender("nearest", "grpo", [50, 60, 70]),
    contender("shortest", "grpo", [48, 64, 70]),
)


def test_a_difference_is_the_mean_over_all_that_differ_in_one_label_alone():
    """Task by task 6 0 6 beside clone and -2 4 0 beside grpo: 2 2 3 together."""
    found = effects(*SQUARE)
    assert list(found) == [SELECTOR, LEARNER]
    effect = found[SELECTOR]
    assert effect.difference.interval.mean == pytest.approx(7 / 3)
    assert effect.each == pytest.approx((4, 2 / 3))
    assert (effect.matched, effect.configurations, effect.seeds) == (2, 2, 1)
    assert (effect.difference.better, effect.difference.worse, effect.difference.tasks) == (3, 0, 3)
    assert effect.difference.p == 2 / 8
    half = 4.302653 * (1 / 3**0.5) / 3**0.5
    assert effect.difference.interval.low == pytest.approx(7 / 3 - half, abs=1e-5)
    assert found[LEARNER].difference.interval.mean == pytest.approx((40 + 40 + 40 + 32 + 44 + 34) / 6)


def test_labels_stand_beside_the_first_of_the_file_whatever_came_first_on_the_board():
    found = effects(*reversed(SQUARE), order={"learner": ["grpo", "clone"]})
    assert list(found) == [Choice("learner", "clone", "grpo"), Choice("selector", "nearest", "shortest")]


def test_an_axis_with_one_label_here_makes_no_difference():
    here = [replace(one, axes={"stream": "alf", **one.axes}) for one in SQUARE]
    assert list(effects(*here, order={"stream": ["shop", "alf"], **ORDER})) == [SELECTOR, LEARNER]
    assert not effects(SQUARE[0])
    assert not effects(replace(SQUARE[0], axes={}), replace(SQUARE[1], axes={}))


def test_what_has_no_counterpart_is_left_out_and_counted():
    effect = effects(*SQUARE, contender("shortest", "edge", [0, 0, 0]))[SELECTOR]
    assert (effect.matched, effect.configurations) == (2, 3)
    assert effect.difference.interval.mean == pytest.approx(7 / 3)


def test_a_choice_without_any_counterpart_is_named():
    found = along([SQUARE[0], SQUARE[3]], ORDER, ALL)
    assert found.found == ()
    assert found.unmatched == (SELECTOR, LEARNER)


def test_what_has_no_task_or_seed_in_common_is_no_match():
    other = replace(SQUARE[1], scores={0: {("d", "elsewhere"): 1.0}})
    later = contender("shortest", "grpo", None, [48, 64, 70])
    assert along([SQUARE[0], SQUARE[2], other, later], {"selector": ["nearest"]}, ALL).unmatched[0] == SELECTOR


def test_matches_without_a_task_in_common_are_no_effect():
    sides = [contender("nearest", "clone", [1]), contender("shortest", "clone", [2])]
    moved = [contender("nearest", "grpo", None, [1]), contender("shortest", "grpo", None, [2])]
    moved = [replace(one, scores={1: {("d", "other"): 1.0}}) for one in moved]
    assert SELECTOR in along([*sides, *moved], ORDER, ALL).unmatched


def test_of_a_configuration_with_a_bank_the_arm_that_shows_it_counts():
    shown = contender("shortest", "clone", [30, 40, 50], arm="experience")
    for sides in ([SQUARE[0], SQUARE[1], shown], [shown, SQUARE[1], SQUARE[0]]):
        assert effects(*sides)[SELECTOR].difference.interval.mean == 20.0


def test_of_one_match_all_is_told_that_a_leaderboard_tells_of_the_pair():
    base = contender("nearest", "clone", [10, 20, 30, 5], [12, 25, 31, 0])
    ours = replace(contender("shortest", "clone", [16, 21, 36, 1], [11, 30, 39, 3]), base=base.scores)
    board = leaderboard([ours], title="d", environments={}, bootstrap=ALL)
    assert effects(base, ours)[SELECTOR].difference == board.standings[0].versus_base


def test_seeds_are_paired_and_one_that_a_side_lacks_is_not_in_its_match():
    """Seed 0: 10 of the first match and 30 of the second; seed 1: 20 of the first alone."""
    found = effects(
        contender("nearest", "clone", [10, 10], [0, 0]),
        contender("shortest", "clone", [20, 20], [20, 20]),
        contender("nearest", "grpo", [50, 50]),
        contender("shortest", "grpo", [80, 80], [0, 0]),
    )[SELECTOR]
    assert found.difference.interval.mean == 20.0
    assert found.each == (15.0, 30.0)
    assert found.seeds == 2


def test_intervals_are_over_seeds_too():
    """Two seeds that agree on every task, and two that are far apart: the mean is the same, what is known of it is not."""
    zero = contender("nearest", "clone", [0, 0, 0], [0, 0, 0])
    agreeing = effects(zero, contender("shortest", "clone", [30, 31, 32], [30, 31, 32]))[SELECTOR].difference.interval
    parted = effects(zero, contender("shortest", "clone", [10, 11, 12], [50, 51, 52]))[SELECTOR].difference.interval
    assert agreeing.mean == parted.mean == 31.0
    assert parted.high - parted.low > 4 * (agreeing.high - agreeing.low)


def test_all_choices_of_a_board_are_one_family():
    """Six tasks, all better by amounts that differ: 2 of 64 signs each; three choices on two axes: Holm makes it three times as much."""
    gained = [1, 2, 3, 5, 8, 13]
    sides = [contender("nearest", "clone", [0] * 6), contender("shortest", "clone", gained), contender("random", "clone", gained)]
    alone = effects(*sides[:2])[SELECTOR].difference
    assert (alone.p, alone.p_holm) == (2 / 64, 2 / 64)
    found = effects(*sides, contender("nearest", "grpo", gained))
    assert len(found) == 3
    assert {effect.difference.p_holm for effect in found.values()} == {6 / 64}
