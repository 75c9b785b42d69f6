"""What a mean over seeds and tasks varies with, and how often its interval holds the truth."""

import math
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest

from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.components import components, weights
from xplearn.metrics.crossed import Estimator, Grid, grids
from xplearn.metrics.student import quantile

CONFIDENCE = 0.95


def chance(logit):
    return 1.0 / (1.0 + np.exp(-logit))


def successes(rng, count, seeds, tasks, deviation, level=-0.3):
    """In percent, of policies whose seeds are better or worse everywhere, on tasks that are easy or hard for all: ``[count, S, T]``."""
    ease, luck = rng.normal(0, 1.5, (count, 1, tasks)), rng.normal(0, deviation, (count, seeds, 1))
    return 100.0 * (rng.random((count, seeds, tasks)) < chance(level + ease + luck + rng.normal(0, 0.7, (count, seeds, tasks))))


def differences(rng, count, seeds, tasks, deviation):
    """Of two such policies on the same tasks, easier for the one than for the other by chance."""
    ease = rng.normal(0, 1.5, (count, 1, tasks))
    sides = []
    for level in (-0.3, -0.8):
        logit = level + ease + rng.normal(0, 0.4, (count, 1, tasks)) + rng.normal(0, deviation, (count, seeds, 1))
        sides.append(rng.random((count, seeds, tasks)) < chance(logit + rng.normal(0, 0.7, (count, seeds, tasks))))
    return 100.0 * (sides[0].astype(float) - sides[1])


@cache
def expected(draw, deviation):
    return draw(np.random.default_rng(1), 40_000, 1, 40, deviation).mean()


def test_the_parts_of_two_seeds_on_two_tasks_by_hand():
    """Task means 20 and 60, seed means 30 and 50, and no chance left: 800 / 2 over tasks, 200 / 2 over seeds."""
    found = components(np.array([[10.0, 50.0], [30.0, 70.0]]), (2,))
    assert (found.tasks, found.seeds, found.chance) == pytest.approx((400.0, 100.0, 0.0))
    assert (found.task_freedom, found.seed_freedom) == (1, 1)
    assert found.half(0.5) == pytest.approx(0.5 * (1.0 + quantile(0.75, 500**2 / (400**2 + 100**2))) * np.sqrt(500.0))


def test_chance_shows_in_both_and_is_counted_once():
    """Rest +-5 in each cell: mean square 100, over 4 cells 25; over tasks 50 / 2, over seeds 50 / 2."""
    found = components(np.array([[10.0, 20.0], [15.0, 15.0]]) * 2, (2,))
    assert found.chance == pytest.approx(25.0)
    assert found.tasks == pytest.approx(25.0)
    assert found.seeds == pytest.approx(0.0)


def test_one_seed_is_students_interval_over_tasks():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(0).normal(size=20)
    low, high = stats.t.interval(0.9, 19, loc=values.mean(), scale=stats.sem(values))
    assert components(values[None], (20,)).half(0.9) == pytest.approx((high - low) / 2)


def test_domains_count_alike_whatever_their_size():
    assert weights((1, 2)).tolist() == [0.5, 0.25, 0.25]
    assert Grid(values=np.array([[80.0, 10.0, 30.0]]), strata=(1, 2)).mean == 50.0
    found = components(np.array([[0.0, 10.0, 0.0, 10.0, 0.0, 10.0]]), (2, 4))
    assert found.tasks == pytest.approx((50 / 2 + 100 / 3 / 4) / 4)


def test_a_small_domain_that_says_much_of_the_error_leaves_little_freedom():
    """25 / 4 from two tasks and 25 / 12 from four, by Satterthwaite: (25 / 3) ** 2 over (25 / 4) ** 2 / 1 + (25 / 12) ** 2 / 3."""
    found = components(np.array([[0.0, 10.0, 0.0, 10.0, 0.0, 10.0]]), (2, 4))
    assert found.task_freedom == pytest.approx((25 / 3) ** 2 / ((25 / 4) ** 2 + (25 / 12) ** 2 / 3))
    alike = components(np.array([[0.0, 10.0, 0.0, 0.0, 10.0, 0.0]]), (3, 3))
    assert alike.task_freedom == pytest.approx(4)


def test_a_domain_with_a_single_task_has_no_spread():
    assert components(np.array([[1.0, 2.0, 3.0]]), (1, 2)) is None
    found = Estimator(Bootstrap()).scores(Grid(values=np.array([[1.0]]), strata=(1,)), np.array([0.0, 50.0]))
    assert (found.mean.mean, found.mean.low, found.iqm.high, found.band) == (1.0, None, None, None)


def test_seeds_that_agree_to_the_digit_leave_the_interval_over_tasks():
    """Three seeds of the same mean and tasks that differ by chance alone: nothing is left of either part but chance."""
    scores = np.array([[0.0, 0.0, 100.0], [0.0, 100.0, 0.0], [100.0, 0.0, 0.0]])
    scores = np.concatenate([scores, 100.0 - scores], axis=1)
    found = components(scores, (6,))
    assert found.seeds == 0
    assert found.half(0.95) == pytest.approx(quantile(0.975, 5) * np.sqrt(found.tasks))


def test_equal_scores_have_an_interval_of_no_width():
    found = Estimator(Bootstrap()).mean(Grid(values=np.full((3, 5), 40.0), strata=(5,)))
    assert (found.low, found.mean, found.high) == pytest.approx((40.0, 40.0, 40.0))


def test_seeds_that_differ_widen_the_interval():
    values = np.random.default_rng(0).random((3, 40)) * 50
    apart = values + np.array([[0.0], [20.0], [40.0]])
    alike, other = (Estimator(Bootstrap()).mean(Grid(values=found, strata=(40,))) for found in (values, apart))
    assert other.high - other.low > 3 * (alike.high - alike.low)


def test_grids_hold_the_seeds_and_tasks_that_all_sides_have():
    ours = {0: {("d", "a"): 1.0, ("d", "b"): 2.0, ("c", "z"): 5.0}, 1: {("d", "b"): 3.0, ("c", "z"): 6.0}, 2: {("d", "a"): 0.0}}
    theirs = {1: {("c", "z"): 8.0, ("d", "b"): 7.0}, 0: {("d", "b"): 9.0, ("c", "z"): 4.0}}
    left, right = grids(ours, theirs)
    assert left.values.tolist() == [[5.0, 2.0], [6.0, 3.0]]
    assert right.values.tolist() == [[4.0, 9.0], [8.0, 7.0]]
    assert left.strata == (1, 1)
    assert grids(ours, {3: {("d", "a"): 1.0}}) == []
    assert grids(ours, {}) == []


@pytest.mark.parametrize("deviation", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("tasks", [12, 24, 60, 125])
@pytest.mark.parametrize("draw", [differences, successes])
@pytest.mark.parametrize("seeds", [3, 5])
def test_over_seeds_and_tasks_the_interval_holds_the_truth_as_often_as_it_says(draw, seeds, tasks, deviation):
    """Seeds whose scores deviate by 0, 3 and 8 points; on 12 tasks, few of which differ, it errs a little on the wide side."""
    truth = expected(draw, deviation)
    found = draw(np.random.default_rng(seeds * tasks), 2000, seeds, tasks, deviation)
    inside = np.mean([abs(one.mean() - truth) <= components(one, (tasks,)).half(CONFIDENCE) + 1e-9 for one in found])
    assert 0.93 <= inside <= (0.97 if tasks > 12 else 0.975), inside


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("strata", [(12, 12), (6, 60), (12, 125), (24, 60, 125)])
def test_domains_of_very_different_size_do_not_make_it_miss(strata, seeds):
    rng, truth = np.random.default_rng(seeds), 50.0
    inside = 0
    for _ in range(2000):
        scores = 50.0 * (rng.beta(0.6, 0.6, (seeds, sum(strata))) + rng.beta(0.6, 0.6, sum(strata)))
        inside += abs(Grid(values=scores, strata=strata).mean - truth) <= components(scores, strata).half(CONFIDENCE) + 1e-9
    assert 0.93 <= inside / 2000 <= 0.97, inside / 2000


@pytest.mark.parametrize(("draw", "seeds", "tasks"), [(successes, 1, 24), (successes, 3, 60), (differences, 1, 60), (differences, 3, 24)])
def test_resampled_intervals_hold_it_too(draw, seeds, tasks):
    deviation = 0.3 if seeds > 1 else 0.0
    truth = expected(draw, deviation)
    estimator = Estimator(Bootstrap(resamples=300))
    figure = estimator.difference if draw is differences else estimator.mean
    found = [figure(Grid(values=one, strata=(tasks,))) for one in draw(np.random.default_rng(2), 500, seeds, tasks, deviation)]
    inside = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.93 <= inside <= 0.98, inside


@pytest.mark.parametrize("seeds", [1, 3])
def test_the_interquartile_mean_has_such_an_interval_too(seeds):
    """Against its value on a panel of 3,000 tasks."""
    deviation = 0.3 if seeds > 1 else 0.0
    rng, estimator = np.random.default_rng(3), Estimator(Bootstrap(resamples=300))

    def partial(count, seeds, tasks):
        spread = rng.normal(0, 1.5, (count, 1, tasks)) + rng.normal(0, deviation, (count, seeds, 1))
        return 100.0 * chance(spread + rng.normal(0, 0.7, (count, seeds, tasks)))

    truth = np.mean([estimator.scores(Grid(values=one, strata=(300,)), np.array([50.0])).iqm.mean for one in partial(60, 1, 300)])
    found = [estimator.scores(Grid(values=one, strata=(40,)), np.array([50.0])).iqm for one in partial(400, seeds, 40)]
    inside = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.92 <= inside <= 0.98, inside


def test_domains_count_alike_in_retention_too():
    """Domain a keeps 40 of 80, b 30 of 40: 35 of 60, whatever their panels."""
    plain, shown = (
        {0: {**dict.fromkeys((("a", str(n)) for n in range(3)), a), ("b", "x"): b, ("b", "y"): b}} for a, b in ((40.0, 30.0), (80.0, 40.0))
    )
    found = Estimator(Bootstrap()).retention(*grids(plain, shown))
    assert found.mean == pytest.approx(100 * 35 / 60)


def arms(rng, seeds, tasks, kind, correlation):
    """Scores of two arms that go together on a task, seeds of which deviate: ``[2, S, T]``, graded, all or nothing, or half of each."""
    own = math.sqrt(0.5) * (rng.normal(size=(2, 1, tasks)) + rng.normal(size=(2, seeds, tasks)))
    ease = math.sqrt(correlation) * rng.normal(size=tasks) + math.sqrt(1.0 - correlation) * own
    logit = np.array([0.3, -0.2])[:, None, None] + 1.8 * (ease + (rng.normal(0, 0.25, (2, seeds, 1)) if seeds > 1 else 0.0))
    graded, whole = 100.0 * chance(logit), 100.0 * (logit > 0)
    return {"graded": graded, "binary": whole, "mixed": np.where(rng.random(tasks) < 0.5, graded, whole)}[kind]


def difference_of_arms(kind, deviation):
    """What those differ by on all tasks and seeds that there may be, exactly."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(61)
    spread = 1.8 * math.sqrt(1.0 + deviation**2)
    graded, whole = (
        [of(level) for level in (0.3, -0.2)]
        for of in (lambda level: chance(level + spread * nodes) @ shares / shares.sum(), lambda level: NormalDist().cdf(level / spread))
    )
    found = {"graded": graded, "binary": whole, "mixed": np.add(graded, whole) / 2.0}[kind]
    return 100.0 * (found[0] - found[1])


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["graded", "binary", "mixed"])
@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_paired_differences_of_any_kind_of_score_lie_in_their_intervals(seeds, kind, correlation):
    rng, truth = np.random.default_rng([seeds, int(10 * correlation)]), difference_of_arms(kind, 0.25 if seeds > 1 else 0.0)
    found = [np.subtract(*arms(rng, seeds, 40, kind, correlation)) for _ in range(1000)]
    inside = np.mean([abs(one.mean() - truth) <= components(one, (40,)).half(CONFIDENCE) + 1e-9 for one in found])
    assert 0.93 <= inside <= 0.97, inside
