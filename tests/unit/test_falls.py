"""Intervals of forgetting and transfer: by hand, and by how often they hold the truth on matrices whose truth is known."""

import math

import numpy as np
import pytest

from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.continual import FIGURES, Matrix
from xplearn.metrics.falls import Fall, contrast, fall

FEW = Bootstrap(resamples=200)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
EASE = 1.8
"""Deviation of a task's ease, as a logit."""


def levels(change, stages):
    """Logit of the average task, ``[1 + K, K]``: each stage learns a domain of its own and adds ``change`` to the earlier ones."""
    found = np.full((1 + stages, stages), -1.0)
    for stage in range(1, 1 + stages):
        found[stage] = found[stage - 1] + np.where(np.arange(stages) < stage - 1, change, 0.0)
        found[stage, stage - 1] += 2.0 if change else 0.0
    return found


def truth(figure, found):
    means = 100.0 * (1.0 / (1.0 + np.exp(-found[..., None] - EASE * NODES))) @ WEIGHTS / WEIGHTS.sum()
    return float(FIGURES[figure](means, range(found.shape[1])))


def matrix(rng, found, tasks, correlation=0.7):
    """Scores of tasks that are easy or hard in every stage, as far as they go together."""
    rows, domains = found.shape
    names = tuple(f"d{number}" for number in range(domains))
    scores = {}
    for column, name in enumerate(names):
        ease = math.sqrt(correlation) * rng.normal(size=tasks) + math.sqrt(1.0 - correlation) * rng.normal(size=(rows, tasks))
        values = 100.0 / (1.0 + np.exp(-found[:, [column]] - EASE * ease))
        scores |= {(row, name): dict(enumerate(values[row])) for row in range(rows)}
    return Matrix(arm="plain", domains=names, stream=names, scores=scores, bootstrap=FEW)


def held(figure, change, stages, tasks, count=150):
    """How often the interval holds the truth."""
    found = levels(change, stages)
    wanted, rng = truth(figure, found), np.random.default_rng([stages, tasks])
    intervals = [matrix(rng, found, tasks).figures()[figure] for _ in range(count)]
    return np.mean([one.low - 1e-9 <= wanted <= one.high + 1e-9 for one in intervals])


@pytest.mark.parametrize(
    ("figure", "stages", "tasks"), [("forgetting", 2, 12), ("forgetting", 3, 30), ("forgetting", 5, 40), ("chaudhry_forgetting", 4, 30)]
)
def test_stages_that_are_alike_are_told_to_have_forgotten_no_more_often_than_an_interval_may_miss(figure, stages, tasks):
    """The best of five equal stages always lies above the last one; percentiles of resamples never held the truth here."""
    assert 0.93 <= held(figure, 0.0, stages, tasks) <= 0.99


@pytest.mark.parametrize("change", [-0.1, -0.6])
@pytest.mark.parametrize(("stages", "tasks"), [(2, 12), (4, 40)])
def test_what_was_forgotten_lies_in_its_interval_as_often_as_it_says(stages, tasks, change):
    assert 0.92 <= held("forgetting", change, stages, tasks, 300) <= 0.99


@pytest.mark.parametrize(("stages", "tasks"), [(2, 12), (4, 30)])
@pytest.mark.parametrize("figure", ["bwt", "fwt"])
def test_transfer_lies_in_its_interval_as_often_as_it_says(figure, stages, tasks):
    assert 0.93 <= held(figure, -0.3, stages, tasks, 250) <= 0.975


def test_a_contrast_is_students_interval_over_the_tasks_of_each_domain():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(0).normal(3.0, 10.0, 15)
    found = contrast([values], FEW, (-100.0, 100.0))
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 14, loc=values.mean(), scale=stats.sem(values)))
    assert contrast([values, values[:1]], FEW, (-100.0, 100.0)).low is None


def test_a_fall_from_what_can_only_have_been_the_best_is_a_contrast_below_and_close_to_one_above():
    gaps = np.random.default_rng(0).normal([-40.0, -5.0, 0.0], [10.0, 10.0, 0.0], (50, 3))
    found, single = fall([Fall(gaps=gaps, share=1.0)], FEW, (-100.0, 0.0)), contrast([gaps[:, 0]], FEW, (-100.0, 0.0))
    assert (found.mean, found.low) == pytest.approx((single.mean, single.low))
    assert found.high == pytest.approx(single.high, abs=0.6)


def test_a_final_score_that_is_the_best_by_far_has_not_fallen():
    gaps = np.column_stack([np.random.default_rng(0).normal(40.0, 5.0, 20), np.zeros(20)])
    found = fall([Fall(gaps=gaps, share=1.0)], FEW, (-100.0, 0.0))
    assert (found.low, found.mean, found.high) == (0.0, 0.0, 0.0)


def test_a_final_score_that_is_the_best_by_little_may_have_fallen():
    """It lies 1 above on average, by tasks that differ by 20."""
    gaps = np.column_stack([1.0 + 20.0 * np.linspace(-1, 1, 16), np.zeros(16)])
    found = fall([Fall(gaps=gaps, share=1.0)], FEW, (-100.0, 0.0))
    assert (found.mean, found.high) == (0.0, 0.0)
    assert found.low == contrast([gaps[:, 0]], FEW, (-100.0, 100.0)).low < -5.0


def test_one_task_says_nothing_about_how_far_it_may_have_fallen():
    found = fall([Fall(gaps=np.array([[-5.0, 0.0]]), share=0.5), Fall(gaps=np.zeros((3, 2)), share=0.5)], FEW, (-100.0, 0.0))
    assert (found.mean, found.low, found.high) == (-2.5, None, None)
