"""Bootstrap intervals: by hand, against scipy, and by how often they hold the truth."""

import numpy as np
import pytest

from xplearn.errors import ConfigError
from xplearn.metrics.bootstrap import Bootstrap


def test_mean_is_exact_and_inside_its_interval():
    found = Bootstrap(seed=1).mean([1.0, 2.0, 6.0, 7.0])
    assert found.mean == 4.0
    assert found.low < 4.0 < found.high


def test_a_bounded_mean_stays_within_its_bounds():
    found = Bootstrap().mean([0.0, 0.0, 1.0, 1.0], within=(0.0, 1.0))
    assert (found.low, found.high) == (0.0, 1.0)
    free = Bootstrap().mean([0.0, 0.0, 1.0, 1.0])
    assert free.low < 0.0
    assert free.high > 1.0


def test_a_figure_that_leaves_its_bounds_keeps_its_percentiles():
    """An environment that gives scores above 1 is at fault, but its mean must not lie outside its interval."""
    found = Bootstrap().mean([1.2, 1.4, 1.3, 1.5], within=(0.0, 1.0))
    assert found.low < found.mean < found.high <= 1.5


def test_same_seed_same_interval_and_another_seed_another():
    values = list(np.random.default_rng(0).random(30))
    first = Bootstrap(seed=1).mean(values)
    assert first == Bootstrap(seed=1).mean(values)
    assert first.low != Bootstrap(seed=2).mean(values).low


def test_one_task_has_no_interval():
    found = Bootstrap().mean([0.5])
    assert (found.mean, found.low, found.high) == (0.5, None, None)
    assert found.text() == "0.5"


def test_constant_values_have_an_interval_of_no_width():
    found = Bootstrap().mean([0.25] * 9).scaled(100.0)
    assert (found.mean, found.low, found.high) == (25.0, 25.0, 25.0)


def test_lower_confidence_gives_a_narrower_interval():
    values = list(np.random.default_rng(0).random(50))
    narrow, wide = Bootstrap(confidence=0.5).mean(values), Bootstrap(confidence=0.99).mean(values)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_percentiles_agree_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(5).beta(0.5, 0.8, size=80)
    ours = Bootstrap(resamples=20_000).stretched(Bootstrap(resamples=20_000).means([values])[0], 1.0)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.004)


def test_on_normal_data_the_interval_is_students():
    stats = pytest.importorskip("scipy.stats")
    values = stats.norm.ppf((np.arange(12) + 0.5) / 12)
    found = Bootstrap(resamples=20_000).mean(values)
    theirs = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(theirs, abs=0.05)


def test_a_difference_is_students_with_bounds_equally_far_but_not_beyond_what_it_can_be():
    stats = pytest.importorskip("scipy.stats")
    values = [0.0, 0.0, 0.0, 1.0, 0.0, 0.5, -0.25]
    found = Bootstrap().difference(values, within=(-1.0, 1.0))
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 6, loc=np.mean(values), scale=stats.sem(values)))
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    assert Bootstrap().difference([1.0, 1.0, 0.0, 1.0], within=(-1.0, 1.0)).high == 1.0
    assert Bootstrap().difference([0.5]).low is None


def test_domains_that_differ_are_no_spread():
    """Half of the tasks from a domain that is solved and half from one that is not: only what differs within them counts."""
    apart = [1.0] * 8 + [0.0] * 8
    assert Bootstrap().mean(apart, strata=[8, 8]).low == Bootstrap().difference(apart, strata=[8, 8]).high == 0.5
    assert Bootstrap().mean(apart).low < 0.3
    assert Bootstrap().mean(apart[:9], strata=[8, 1]).low is None


def test_the_resamples_give_a_means_bounds_their_place_and_student_their_distance():
    values = [0.0] * 9 + [1.0, 0.5, 0.75]
    found, even = Bootstrap().mean(values), Bootstrap().difference(values)
    assert found.high - found.low == pytest.approx(even.high - even.low)
    assert found.low > even.low + 0.01


def _successes(rng, tasks):
    return (rng.random(tasks) < rng.beta(0.8, 1.2, tasks)).astype(float), 0.4


def _partial_scores(rng, tasks):
    return rng.beta(0.6, 0.9, tasks), 0.4


def _paired_successes(rng, tasks):
    """Two arms whose chances on a task go together: 0.55 and 0.35 on average."""
    ease = rng.beta(1.0, 1.0, tasks)
    ours, theirs = rng.random(tasks) < 0.2 + 0.7 * ease, rng.random(tasks) < 0.7 * ease
    return ours.astype(float) - theirs, 0.2


def _few_that_differ(rng, tasks):
    """Seven tasks of ten alike, as of a policy and itself with a bank."""
    drawn = rng.random(tasks)
    return (drawn < 0.2).astype(float) - (drawn > 0.9), 0.1


def _paired_partial_scores(rng, tasks):
    """Equal on a part of the tasks, as policies often are."""
    return np.where(rng.random(tasks) < 0.3, 0.0, rng.beta(2.0, 2.0, tasks) - 0.4), 0.07


@pytest.mark.parametrize("tasks", [12, 24, 60, 125])
@pytest.mark.parametrize("draw", [_successes, _partial_scores])
def test_a_means_interval_holds_the_truth_as_often_as_it_says(draw, tasks):
    rng, bootstrap = np.random.default_rng(7), Bootstrap(resamples=400)
    found = [draw(rng, tasks) for _ in range(1500)]
    intervals = [(bootstrap.mean(list(values), within=(0.0, 1.0)), truth) for values, truth in found]
    inside = np.mean([one.low - 1e-9 <= truth <= one.high + 1e-9 for one, truth in intervals])
    assert 0.93 <= inside <= 0.97, inside


@pytest.mark.parametrize("tasks", [12, 24, 60, 125])
@pytest.mark.parametrize("draw", [_paired_successes, _few_that_differ, _paired_partial_scores])
def test_a_differences_interval_holds_the_truth_as_often_as_it_says(draw, tasks):
    rng = np.random.default_rng(7)
    found = [draw(rng, tasks) for _ in range(3000)]
    intervals = [(Bootstrap().difference(list(values), within=(-1.0, 1.0)), truth) for values, truth in found]
    inside = np.mean([one.low - 1e-9 <= truth <= one.high + 1e-9 for one, truth in intervals])
    assert 0.93 <= inside <= 0.97, inside


def test_groups_of_the_same_sizes_are_drawn_alike_whatever_they_hold_and_however_much(monkeypatch):
    rng = np.random.Generator(np.random.PCG64(7))
    first, second = rng.normal(size=30), rng.normal(size=(50, 3))
    whole = Bootstrap(resamples=200).means([first, second])
    monkeypatch.setattr("xplearn.metrics.bootstrap._CHUNK", 1000)
    pieces = Bootstrap(resamples=200).means([first, second[:, 1]])
    assert [found.shape for found in (*whole, *pieces)] == [(200,), (200, 3), (200,), (200,)]
    np.testing.assert_allclose(whole[0], pieces[0])
    np.testing.assert_allclose(whole[1][:, 1], pieces[1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Bootstrap().mean([]), "values: have shape"),
        (lambda: Bootstrap().mean([1.0, float("nan")]), "values: hold nan at 1"),
        (lambda: Bootstrap().difference([float("inf")]), "values: hold inf at 0"),
        (lambda: Bootstrap().mean([1.0, 2.0, 3.0], strata=[2, 2]), "strata: are .2, 2., of 3 values"),
        (lambda: Bootstrap(confidence=95), "confidence: is 95; want a share"),
        (lambda: Bootstrap(resamples=0), "resamples: is 0"),
    ],
)
def test_what_no_interval_can_be_made_of_is_refused(call, words):
    with pytest.raises(ConfigError, match=words):
        call()


def test_where_nearly_all_resamples_are_one_value_the_interval_still_holds_the_figure():
    resampled = np.zeros(2000)
    resampled[:30] = 25.0  # beyond the percentiles, with their mean: an interquartile mean of few successes is like that
    resampled[30:200] = 1e-13
    found = Bootstrap().shaped(0.0, resampled, 6.0, (0.0, 100.0))
    assert (found.low, found.high) == (0.0, 6.0)


@pytest.mark.parametrize("value", [-1.0, 0.0, 50.0, 120.0])
def test_a_figure_lies_within_its_interval(value):
    resampled = np.linspace(10.0, 40.0, 2000)
    found = Bootstrap().around(value, resampled, 1.0, (0.0, 100.0))
    assert found.low <= value <= found.high
    assert found.low <= 11.0 < 39.0 <= found.high
