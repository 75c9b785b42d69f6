"""Scaffold retention: by its formula, at the edges where a ratio means nothing, and by the coverage of its interval."""

import numpy as np
import pytest

from xplearn.errors import ConfigError
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.retention import paired_retention, retention, retention_by_task
from xplearn.types import EpisodeResult

FEW = Bootstrap(resamples=200)


def result(task, score, *, arm="plain", replica=0, error=None):
    return EpisodeResult(
        id=f"eval/1/toy/{task}/{arm}/{replica}", phase="eval/1/toy", env="toy", task=task, kind="", split="test", arm=arm, seed=0,
        score=score, success=score == 1.0, terminated=True, truncated=False, length=1, tokens_in=1, tokens_out=1, seconds=1.0, error=error,
    )  # fmt: skip


def test_it_is_the_ratio_of_the_means_and_not_the_mean_of_the_ratios():
    found = retention([0.1, 0.9], [0.5, 0.9], FEW)
    assert found.mean == pytest.approx(100 * 1.0 / 1.4)


def test_both_arms_are_resampled_together_so_a_constant_share_has_no_width():
    shown = [0.2, 0.4, 0.9, 1.0]
    found = retention([0.5 * score for score in shown], shown, FEW)
    assert (found.low, found.mean, found.high) == pytest.approx((50.0, 50.0, 50.0))


def test_the_interval_holds_the_ratios_that_a_paired_t_test_does_not_reject():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    shown = rng.uniform(0.3, 1.0, 12)
    plain = 0.8 * shown + rng.normal(0, 0.1, 12)
    found = retention(plain, shown, FEW)
    for bound in (found.low, found.high):
        assert stats.ttest_1samp(plain - bound / 100 * shown, 0).pvalue == pytest.approx(0.05, abs=1e-6)
    assert found.low < found.mean < found.high


def test_domains_are_strata_and_count_by_their_tasks():
    """Half of the tasks from a domain that keeps everything and half from one that keeps half of it: only what differs within counts."""
    rng = np.random.default_rng(0)
    shown = rng.uniform(0.4, 0.6, 20)
    plain = np.repeat([1.0, 0.5], 10) * shown + rng.normal(0, 0.01, 20)
    one, two = retention(plain, shown, FEW), retention(plain, shown, FEW, domains=[10, 10])
    assert one.mean == two.mean
    assert two.high - two.low < (one.high - one.low) / 3
    assert retention(plain, shown, FEW, domains=[19, 1]).low is None


def test_experience_that_hurts_retains_more_than_everything():
    assert retention([0.9, 0.8, 0.9, 0.7], [0.5, 0.4, 0.4, 0.5], FEW).low > 100


def test_nothing_with_the_bank_is_undefined_and_nothing_without_it_is_nothing():
    assert retention([0.5, 0.5], [0.0, 0.0], FEW) is None
    assert retention([], [], FEW) is None
    found = retention([0.0, 0.0], [0.5, 0.4], FEW)
    assert (found.low, found.mean, found.high) == (0.0, 0.0, 0.0)


def test_one_task_has_no_bounds():
    found = retention([0.5], [1.0], FEW)
    assert (found.mean, found.low, found.high) == (50.0, None, None)


@pytest.mark.parametrize("solved", [1, 2, 3])
def test_no_bounds_are_given_where_the_score_with_the_bank_may_be_nothing(solved):
    """With 1 to 3 of 20 tasks solved, Student's interval of that score holds 0."""
    shown = [1.0] * solved + [0.0] * (20 - solved)
    found = retention([0.5] * 20, shown, Bootstrap())
    assert found.mean == pytest.approx(100 * 10 / solved)
    assert (found.low, found.high) == (None, None)
    assert retention([0.5] * 20, [1.0] * 5 + [0.0] * 15, Bootstrap()).high < float("inf")


def test_episodes_are_paired_on_task_and_replica_and_replicas_averaged():
    plain = [result("a", 0.2), result("a", 0.6, replica=1), result("b", 0.5), result("alone", 1.0)]
    shown = [result("a", 0.5, arm="experience"), result("a", 0.7, arm="experience", replica=1), result("b", 1.0, arm="experience"),
             result("b", 0.0, arm="experience", replica=1)]  # fmt: skip
    assert paired_retention(plain, shown, FEW) == retention([0.4, 0.5], [0.6, 1.0], FEW)
    assert paired_retention(reversed(plain), reversed(shown), FEW) == paired_retention(plain, shown, FEW)
    assert paired_retention(plain, [], FEW) is None


def test_tasks_that_only_one_arm_played_are_left_out():
    found = retention_by_task({"a": 20.0, "b": 50.0, "c": 90.0}, {"b": 100.0, "a": 40.0}, FEW)
    assert found == retention([20.0, 50.0], [40.0, 100.0], FEW)


def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says():
    """Scores of 60 tasks that share their difficulty; the true ratio of the means is 0.36 / 0.48."""
    rng, inside = np.random.default_rng(0), 0
    for _ in range(400):
        ease = rng.beta(2.0, 2.0, 60)
        shown, plain = rng.binomial(4, 0.96 * ease) / 4, rng.binomial(4, 0.72 * ease) / 4
        found = retention(plain, shown, Bootstrap(resamples=400))
        inside += found.low <= 75.0 <= found.high
    assert 0.91 <= inside / 400 <= 0.98


def test_arms_of_other_tasks_and_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ConfigError, match="experience: is of 3 tasks, plain of 2"):
        retention([1.0, 2.0], [1.0, 2.0, 3.0], FEW)
    with pytest.raises(ConfigError, match="plain: hold nan at 0"):
        retention([float("nan"), 2.0], [1.0, 2.0], FEW)


@pytest.mark.parametrize(("tasks", "levels"), [(24, (0.6, 0.45)), (60, (0.3, 0.2))])
def test_of_successes_too_the_interval_holds_the_true_ratio_as_often_as_it_says(tasks, levels):
    """Of policies that succeed on the same tasks more often than by chance; boards without bounds aside."""
    rng, found = np.random.default_rng(tasks), []
    for _ in range(1500):
        ease = rng.random(tasks)
        shown, plain = (((0.6 * ease + 0.4 * rng.random(tasks)) < level).astype(float) for level in levels)
        found.append(retention(plain, shown, FEW))
    truth = 100.0 * np.divide(
        *[np.mean((0.6 * ease[:, None] + 0.4 * ease) < level) for level in reversed(levels) for ease in [np.linspace(0, 1, 2001)]]
    )
    inside = [one.low - 1e-9 <= truth <= one.high + 1e-9 for one in found if one and one.low is not None]
    assert 0.93 <= np.mean(inside) <= 0.97, np.mean(inside)
    assert len(inside) > 1400
