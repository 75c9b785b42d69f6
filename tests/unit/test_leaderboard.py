"""Leaderboards, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from xplearn.errors import ConfigError
from xplearn.metrics.board import Contender
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.leaderboard import leaderboard
from xplearn.metrics.multiple import holm
from xplearn.metrics.permutation import sign_flip

FEW = Bootstrap(resamples=200)


def scores(*by_seed, domain="d", first=0):
    """Of tasks t0, t1, … from one list for each seed."""
    return {first + seed: {(domain, f"t{number}"): float(score) for number, score in enumerate(row)} for seed, row in enumerate(by_seed)}


def board(*contenders, bootstrap=FEW):
    return leaderboard(contenders, title="d", environments={"d": "1"}, bootstrap=bootstrap)


def contender(name, *by_seed, arm="plain", base=(), plain=(), **changes):
    return Contender(name=name, arm=arm, scores=scores(*by_seed), base=scores(*base), plain=scores(*plain), **changes)


GOOD = contender("good", [60, 80, 100, 80, 90, 70], [80, 80, 100, 60, 90, 70], base=[[10, 20, 100, 90, 10, 10], [10, 20, 100, 90, 10, 10]])
POOR = contender("poor", [0, 20, 10, 10, 30, 0], [0, 0, 10, 10, 30, 0])


def test_the_best_mean_comes_first_and_equals_by_name():
    found = board(POOR, GOOD, replace(POOR, name="other"))
    assert [standing.contender.name for standing in found.standings] == ["good", "other", "poor"]
    assert found.standings[0].mean.mean == 80.0
    assert found.standings[1].mean.mean == 10.0
    assert found.panel == {"d": 6}
    assert (found.title, found.environments, found.confidence) == ("d", {"d": "1"}, 0.95)


def test_a_difference_to_base_is_paired_and_counts_who_gained_and_lost():
    """Task means 70 80 100 70 90 70 beside 10 20 100 90 10 10: one equal, one below, four above."""
    found = board(GOOD).standings[0].versus_base
    assert found.interval.mean == 40.0
    assert (found.better, found.worse, found.tasks) == (4, 1, 6)
    assert found.p == 4 / 32
    assert found.interval.low < 40.0 < found.interval.high


def test_each_kind_of_test_is_a_family_of_its_own():
    """Six tasks better by different amounts: 2 of 64 signs; Holm doubles it among two, and leaves it alone among one."""
    gained = [[1, 2, 3, 5, 8, 13]]
    first = contender("first", *gained, base=[[0] * 6])
    second = contender("second+Harness", *gained, arm="experience", base=[[0] * 6], plain=[[0] * 6])
    one, two = board(first, second).standings
    assert one.versus_base.p == two.versus_base.p == 2 / 64
    assert one.versus_base.p_holm == two.versus_base.p_holm == 4 / 64
    assert two.versus_plain.p_holm == 2 / 64
    assert one.versus_plain is None


def test_the_best_and_what_cannot_be_told_from_it_are_tied():
    close = contender("close", [70, 70, 100, 70, 90, 75], [70, 80, 95, 70, 90, 70])
    found = {standing.contender.name: standing for standing in board(GOOD, close, POOR).standings}
    assert found["good"].tied
    assert found["good"].versus_best is None
    assert found["close"].tied
    assert found["close"].versus_best.p_holm > 0.05
    assert found["poor"].versus_best.p_holm == 4 / 64
    assert found["poor"].tied, "six tasks cannot part one of three from the best, however far below it is"


def test_more_tasks_part_what_few_leave_tied():
    rng = np.random.default_rng(0)
    ease = rng.uniform(0, 80, 40)
    ahead, behind = contender("ahead", ease + 15 + rng.normal(0, 5, 40)), contender("behind", ease + rng.normal(0, 5, 40))
    assert not board(ahead, behind).standings[1].tied
    few = [replace(one, scores={0: dict(list(one.scores[0].items())[:4])}) for one in (ahead, behind)]
    assert board(*few).standings[1].tied


def test_contenders_are_paired_on_the_seeds_and_tasks_that_both_have():
    wide = Contender(name="wide", arm="plain", scores=scores([90, 90, 90], [50, 60, 10]))
    other = Contender(name="other", arm="plain", scores=scores([40, 20], first=1))
    found = board(wide, other).standings[1].versus_best
    assert found.interval.mean == -25.0
    assert found.tasks == 2


def test_identical_contenders_are_tied_and_nothing_is_detectable_of_them():
    twin = replace(GOOD, name="twin")
    found = board(GOOD, twin)
    (first, second), against = found.standings, found.standings[1].versus_best
    assert (first.contender.name, second.contender.name) == ("good", "twin")
    assert (against.p, against.p_holm, against.better, against.worse) == (1.0, 1.0, 0, 0)
    assert (against.interval.low, against.interval.mean, against.interval.high) == (0.0, 0.0, 0.0)
    assert second.tied
    assert board(replace(GOOD, base={})).detectable is None


def test_equal_means_that_rounding_parts_are_ranked_by_name():
    one = contender("b", [0.1 * 100, 0.2 * 100, 0.3 * 100])
    other = contender("a", [0.3 * 100, 0.2 * 100, 0.1 * 100])
    assert [standing.contender.name for standing in board(one, other).standings] == ["a", "b"]


def test_without_a_common_seed_nothing_is_said_and_nothing_is_parted():
    found = board(contender("one", [90, 90]), Contender(name="other", arm="plain", scores=scores([10, 10], first=7))).standings[1]
    assert found.versus_best is None
    assert found.tied


def test_domains_count_alike_in_means_and_differences():
    both = {0: {("a", "x"): 100.0, ("b", "x"): 0.0, ("b", "y"): 0.0, ("b", "z"): 30.0}}
    base = {0: {("a", "x"): 50.0, ("b", "x"): 0.0, ("b", "y"): 0.0, ("b", "z"): 0.0}}
    found = board(Contender(name="it", arm="plain", scores=both, base=base))
    assert found.panel == {"a": 1, "b": 3}
    assert found.standings[0].mean.mean == 55.0
    assert found.standings[0].versus_base.interval.mean == 30.0


def test_one_task_gives_means_and_no_bounds():
    found = board(contender("one", [40], base=[[20]]), contender("two", [30]))
    assert [(standing.mean.mean, standing.mean.low) for standing in found.standings] == [(40.0, None), (30.0, None)]
    assert found.standings[0].band is None
    assert found.standings[0].versus_base.p == 1.0
    assert found.detectable is None


def test_the_profile_and_its_band_lie_on_the_boards_thresholds():
    found = board(GOOD)
    profile, (low, high) = found.standings[0].profile, found.standings[0].band
    assert (found.thresholds[0], found.thresholds[-1], len(found.thresholds)) == (0.0, 100.0, 101)
    assert (profile[0], profile[59], profile[60], profile[100]) == (1.0, 1.0, pytest.approx(10 / 12), 0.0)
    assert (low <= profile + 1e-9).all()
    assert (profile <= high + 1e-9).all()
    assert low.min() >= 0.0
    assert high.max() <= 1.0


def test_scores_stay_between_0_and_100_and_their_bounds_too():
    standing = board(contender("solves", [100, 100, 100, 0, 100, 100], [100, 100, 100, 100, 0, 100], [100] * 6)).standings[0]
    assert standing.mean.high == 100.0
    assert standing.iqm.high <= 100.0


def test_what_is_detectable_is_the_median_of_the_differences():
    """One difference of variance 2 over 9 tasks: (t(0.975, 8) + t(0.8, 8)) sqrt(2 / 9)."""
    base = [[50] * 9]
    found = board(contender("it", [50 + step for step in (-2, -1, -1, 0, 0, 0, 1, 1, 2)], base=base))
    assert found.detectable == pytest.approx((2.3060 + 0.8889) * np.sqrt(12 / 8 / 9), abs=1e-3)


def test_the_order_in_which_contenders_come_changes_nothing():
    forth, back = board(GOOD, POOR), board(POOR, GOOD)
    assert [(one.mean, one.iqm, one.versus_best) for one in forth.standings] == [
        (one.mean, one.iqm, one.versus_best) for one in back.standings
    ]


@pytest.mark.parametrize(
    ("contenders", "words"),
    [
        ([], "contenders: there is none"),
        ([GOOD, replace(POOR, name="good")], "2 are called 'good'"),
        ([contender("empty")], "empty: has no task that all its seeds played"),
        ([Contender(name="torn", arm="plain", scores={0: {("d", "x"): 1.0}, 1: {("d", "y"): 1.0}})], "torn: has no task"),
        ([contender("odd", [1, float("nan"), 3])], "odd: has a score that is not finite, with seed 0 in task d/t1"),
        ([contender("odd", [1, 2], base=[[1, float("inf")]])], "odd: has a score that is not finite"),
        (
            [GOOD, Contender(name="wide", arm="plain", scores={0: scores([1, 2])[0] | scores([1], domain="e")[0]})],
            "good: was not evaluated on e",
        ),
    ],
)
def test_what_cannot_be_ranked_is_refused_by_name(contenders, words):
    with pytest.raises(ConfigError, match=words):
        board(*contenders)


def test_the_best_is_always_among_the_tied_and_resamples_part_nobody():
    rng = np.random.default_rng(3)
    entrants = [contender(f"c{number}", 60 + number + rng.normal(0, 12, 20), 60 + number + rng.normal(0, 12, 20)) for number in range(6)]
    found = [board(*entrants, bootstrap=replace(FEW, resamples=count)) for count in (100, 400)]
    assert all(one.standings[0].tied and one.standings[0].versus_best is None for one in found)
    assert len({tuple(standing.tied for standing in one.standings) for one in found}) == 1
    assert {standing.tied for standing in found[0].standings} == {True, False}


def test_of_equals_the_truly_best_is_seldom_parted_from_the_one_that_chance_favoured():
    """Of five that are equally good each is the truly best: it is parted on 2 of 100 boards, one of the others on 8."""
    rng, parted, any_parted = np.random.default_rng(0), 0, 0
    for _ in range(150):
        ease = rng.normal(50, 20, 30)
        scores = ease + rng.normal(0, 15, (5, 30))
        best = scores.mean(axis=1).argmax()
        others = [number for number in range(5) if number != best]
        ps = holm([sign_flip(scores[number] - scores[best]) for number in others])
        any_parted += min(ps) < 0.05
        parted += best != 0 and ps[others.index(0)] < 0.05
    assert parted / 150 <= 0.05
    assert any_parted / 150 <= 0.16
