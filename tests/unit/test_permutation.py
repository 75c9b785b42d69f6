"""The paired permutation test and Holm's correction: by hand, against scipy and statsmodels, and by how often they err."""

import itertools

import numpy as np
import pytest

from xplearn.errors import ConfigError
from xplearn.metrics.multiple import holm
from xplearn.metrics.permutation import DRAWN, EXACT, sign_flip


def test_three_differences_of_one_sign_are_as_extreme_as_two_of_eight_signs():
    assert sign_flip(np.array([1.0, 2.0, 4.0])) == 2 / 8


def test_the_p_is_the_share_of_signs_that_reach_as_far():
    """Of 1, 2, -4 with sum -1 only the signs with sums 1 and -1, two of eight, reach no further than it does, and it counts itself."""
    assert sign_flip(np.array([1.0, 2.0, -4.0])) == 8 / 8
    assert sign_flip(np.array([1.0, -2.0, -4.0])) == 4 / 8


def test_tasks_without_a_difference_change_nothing():
    assert sign_flip(np.array([0.0, 1.0, 0.0, 2.0, 4.0])) == 2 / 8
    assert sign_flip(np.zeros(5)) == 1.0
    assert sign_flip(np.zeros(0)) == 1.0


def test_what_rounding_leaves_of_a_difference_is_none():
    """Three seeds whose differences cancel on every task, but for the last digit."""
    rows = np.array([[0.1], [0.2], [-0.3]]) * np.ones(20)
    assert rows.sum(axis=0)[0] > 0
    assert sign_flip(rows.mean(axis=0)) == 1.0
    assert sign_flip(np.append(rows.mean(axis=0), [1.0, 2.0, 4.0])) == 2 / 8


def test_sums_that_rounding_parts_count_as_equal():
    """Whole numbers are added exactly, their tenths and thirds are not."""
    whole = np.array([1.0, 2.0, -3.0, 6.0, 4.0])
    for scale in (0.1, 1 / 3, 100 / 7):
        assert sign_flip(whole * scale) == sign_flip(whole) == pytest.approx(_share(whole))


def _share(differences):
    sums = [abs(np.dot(signs, differences)) for signs in itertools.product((-1, 1), repeat=len(differences))]
    return np.mean(np.array(sums) >= abs(differences.sum()))


@pytest.mark.parametrize("size", [2, 5, 9])
@pytest.mark.parametrize("seed", range(6))
def test_small_panels_equal_scipy_exactly(size, seed):
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(seed).integers(-4, 6, size).astype(float)
    theirs = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(differences) == theirs.pvalue


def test_the_drawn_test_is_near_the_exact_one_and_never_0():
    differences = np.random.default_rng(3).normal(0.4, 1.0, EXACT)
    one_more = np.append(differences, 1e-6)
    assert sign_flip(one_more) == pytest.approx(sign_flip(differences), abs=0.02)
    assert sign_flip(one_more) == sign_flip(one_more)
    assert sign_flip(np.ones(60)) == 1 / (DRAWN + 1)


def test_large_panels_are_judged_in_pieces_with_the_same_result(monkeypatch):
    differences = np.random.default_rng(4).normal(0.1, 1.0, 50)
    whole = sign_flip(differences)
    monkeypatch.setattr("xplearn.metrics.permutation._CHUNK", 1000)
    assert sign_flip(differences) == whole


@pytest.mark.parametrize("tasks", [12, 60])
def test_where_there_is_no_difference_small_ps_are_no_more_frequent_than_they_say(tasks):
    """Successes of two policies that are equally good on every task."""
    rng = np.random.default_rng(5)
    ease = rng.beta(0.8, 0.8, (1500, tasks))
    differences = (rng.random(ease.shape) < ease).astype(float) - (rng.random(ease.shape) < ease)
    ps = np.array([sign_flip(row) for row in differences])
    for level in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(ps <= level) <= level + 2.5 * (level * (1 - level) / 1500) ** 0.5


def test_without_ties_ps_are_uniform():
    stats = pytest.importorskip("scipy.stats")
    ps = [sign_flip(row) for row in np.random.default_rng(6).normal(size=(1500, 40))]
    assert stats.kstest(ps, "uniform").pvalue > 0.01


def test_holm_multiplies_the_smallest_by_all_and_the_next_by_one_less():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_equals_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for seed in range(20):
        ps = np.random.default_rng(seed).beta(0.4, 2.0, 9)
        assert holm(list(ps)) == pytest.approx(multitest.multipletests(ps, method="holm")[1], abs=1e-12)


def test_what_is_no_difference_or_no_probability_is_refused():
    with pytest.raises(ConfigError, match="differences: hold nan at 1"):
        sign_flip(np.array([1.0, np.nan]))
    for wrong in (float("nan"), 2.0, -0.1):
        with pytest.raises(ConfigError, match=f"p: is {wrong}"):
            holm([0.5, wrong])
