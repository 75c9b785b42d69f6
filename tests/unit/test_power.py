"""Student's quantiles, and the smallest difference that a panel can find."""

import numpy as np
import pytest

from xplearn.errors import ConfigError
from xplearn.metrics.permutation import sign_flip
from xplearn.metrics.power import better, detectable, worse
from xplearn.metrics.student import normal, quantile


def test_quantiles_of_one_and_two_degrees_of_freedom_have_a_closed_form():
    assert quantile(0.75, 1) == pytest.approx(1.0)
    assert quantile(0.975, 1) == pytest.approx(np.tan(np.pi * 0.475))
    assert quantile(0.975, 2) == pytest.approx(0.95 / np.sqrt(2 * 0.975 * 0.025))
    assert quantile(0.5, 7) == 0.0
    assert quantile(0.025, 7) == -quantile(0.975, 7)


@pytest.mark.parametrize("freedom", [1, 1.4, 2, 2.5, 3, 7, 11.6, 59, 124, 5000])
def test_quantiles_equal_scipys(freedom):
    stats = pytest.importorskip("scipy.stats")
    for level in (0.6, 0.8, 0.9, 0.95, 0.975, 0.995):
        assert quantile(level, freedom) == pytest.approx(stats.t.ppf(level, freedom), rel=1e-6)
    assert normal(0.975) == pytest.approx(stats.norm.ppf(0.975), rel=1e-12)


@pytest.mark.parametrize("tasks", [12, 24, 60, 125])
def test_the_detectable_difference_is_near_that_of_the_noncentral_t(tasks):
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    exact = power.solve_power(nobs=tasks, alpha=0.05, power=0.8)
    assert detectable(1.0 / np.sqrt(tasks), tasks - 1) == pytest.approx(exact, rel=0.02)


def test_the_detectable_difference_is_found_four_times_in_five():
    rng, tasks, spread = np.random.default_rng(0), 40, 30.0
    effect = detectable(spread / np.sqrt(tasks), tasks - 1)
    found = np.mean([sign_flip(row) < 0.05 for row in rng.normal(effect, spread, (600, tasks))])
    assert 0.76 <= found <= 0.84


def test_four_times_the_tasks_find_half_the_difference():
    assert detectable(10.0 / np.sqrt(400), 399) == pytest.approx(detectable(10.0 / np.sqrt(100), 99) / 2, rel=0.01)


def test_tasks_above_and_below_are_counted_and_rounding_is_not():
    assert (better(np.array([5.0, -5.0, 0.0, 1e-14, -3.0])), worse(np.array([5.0, -5.0, 0.0, 1e-14, -3.0]))) == (1, 2)


def test_a_single_task_can_find_nothing():
    with pytest.raises(ConfigError, match="0 degrees of freedom"):
        detectable(10.0, 0)
