"""Figures over seeds and tasks: by hand, and equal to rliable's on the same and on resampled scores."""

import numpy as np
import pytest

from tests.conftest import unavailable
from xplearn.errors import ConfigError
from xplearn.metrics import aggregate
from xplearn.metrics.bootstrap import Bootstrap

SHAPES = [(1, 4), (1, 7), (3, 12), (5, 60), (2, 125)]
TAUS = np.linspace(0.0, 100.0, 21)


def scores(shape, *, ties=False):
    found = 100.0 * np.random.default_rng(sum(shape)).beta(0.6, 0.9, shape)
    return np.round(found / 25.0) * 25.0 if ties else found


def expanded(draws, number, found):
    """A resample in full: every seed and task as often as it was drawn."""
    seeds, tasks = (np.repeat(np.arange(len(counts)), counts[:, number].astype(int)) for counts in (draws.seeds, draws.tasks))
    return found[np.ix_(seeds, tasks)]


def test_the_interquartile_mean_leaves_out_the_lowest_and_the_highest_quarter():
    assert aggregate.iqm(np.array([[0.0, 10.0, 20.0, 100.0]])) == 15.0
    assert aggregate.iqm(np.array([[90.0, 0.0], [30.0, 40.0], [100.0, 20.0]])) == pytest.approx((20 + 30 + 40 + 90) / 4)


def test_the_profile_is_the_share_above_a_threshold():
    assert aggregate.profile(np.array([[0.0, 50.0], [50.0, 100.0]]), np.array([-1.0, 0.0, 49.0, 50.0, 100.0])).tolist() == [
        1,
        0.75,
        0.75,
        0.25,
        0,
    ]


def test_the_optimality_gap_does_not_reward_more_than_the_best():
    assert aggregate.optimality_gap(np.array([[50.0, 120.0]])) == 25.0


def test_improvement_counts_ties_half():
    assert aggregate.improvement(np.array([[3.0, 1.0]]), np.array([[2.0, 1.0], [4.0, 0.0]])) == pytest.approx(
        ((1 + 0) / 2 + (0.5 + 1) / 2) / 2
    )


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_figures_equal_rliables(shape, ties):
    metrics = pytest.importorskip("rliable.metrics")
    found = scores(shape, ties=ties)
    assert aggregate.mean(found) == pytest.approx(metrics.aggregate_mean(found), abs=1e-12)
    assert aggregate.median(found) == pytest.approx(metrics.aggregate_median(found), abs=1e-12)
    assert aggregate.iqm(found) == pytest.approx(metrics.aggregate_iqm(found), abs=1e-12)
    assert aggregate.optimality_gap(found) == pytest.approx(metrics.aggregate_optimality_gap(found, gamma=100.0), abs=1e-12)
    other = scores((shape[0] + 1, shape[1]), ties=ties)
    assert aggregate.improvement(found, other) == pytest.approx(metrics.probability_of_improvement(found, other), abs=1e-12)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_figures_of_every_resample_equal_those_of_the_scores_it_drew(shape, ties):
    stats = pytest.importorskip("scipy.stats")
    found, strata = scores(shape, ties=ties), (2, shape[1] - 2)
    draws = aggregate.draw(Bootstrap(resamples=40), shape[0], strata)
    counted = draws.counted(found)
    weights = np.full(shape[1], 1.0 / shape[1])
    means, iqms, profiles = draws.means(found, weights), counted.iqms(), counted.profiles(TAUS)
    for number in range(40):
        drawn = expanded(draws, number, found)
        assert drawn.shape == shape
        assert means[number] == pytest.approx(drawn.mean(), abs=1e-10)
        assert iqms[number] == pytest.approx(stats.trim_mean(drawn, 0.25, axis=None), abs=1e-10)
        np.testing.assert_allclose(profiles[number], [(drawn > tau).mean() for tau in TAUS], atol=1e-12)


def test_strata_are_drawn_by_themselves_and_a_single_seed_is_kept():
    draws = aggregate.draw(Bootstrap(resamples=50), 1, (3, 9))
    assert (draws.seeds == 1).all()
    assert (draws.tasks[:3].sum(axis=0) == 3).all()
    assert (draws.tasks[3:].sum(axis=0) == 9).all()
    again, other = aggregate.draw(Bootstrap(resamples=50), 1, (3, 9)), aggregate.draw(Bootstrap(resamples=50, seed=1), 1, (3, 9))
    np.testing.assert_array_equal(draws.tasks, again.tasks)
    assert (draws.tasks != other.tasks).any()


@pytest.fixture
def rliable():
    """Its library needs arch, and that needs pandas 2."""
    pytest.importorskip("rliable")
    try:
        from rliable import library
    except (ImportError, TypeError) as error:
        unavailable(f"rliable is installed and cannot be imported, pip install 'pandas<3': {error}")
    return library


@pytest.mark.filterwarnings("default")
def test_of_one_seed_percentiles_are_those_of_rliables_bootstrap_over_tasks(rliable):
    found = scores((1, 60))
    np.random.seed(0)
    _, theirs = rliable.get_interval_estimates({"it": found}, lambda x: np.array([aggregate.iqm(x)]), task_bootstrap=True, reps=4000)
    bootstrap = Bootstrap(resamples=4000)
    ours = bootstrap.stretched(aggregate.draw(bootstrap, 1, (60,)).counted(found).iqms(), 1.0)
    assert ours == pytest.approx(theirs["it"].ravel(), abs=1.5)


@pytest.mark.filterwarnings("default")
def test_profiles_and_their_bands_are_rliables(rliable):
    found = scores((1, 60))
    np.random.seed(0)
    shares, bands = rliable.create_performance_profile({"it": found}, TAUS, task_bootstrap=True, reps=4000)
    np.testing.assert_allclose(aggregate.profile(found, TAUS), shares["it"], atol=1e-12)
    bootstrap = Bootstrap(resamples=4000)
    ours = bootstrap.stretched(aggregate.draw(bootstrap, 1, (60,)).counted(found).profiles(TAUS), 1.0)
    np.testing.assert_allclose(ours, bands["it"], atol=0.035)


@pytest.mark.parametrize("figure", [aggregate.mean, aggregate.median, aggregate.iqm, aggregate.optimality_gap])
@pytest.mark.parametrize("wrong", [np.zeros((0, 3)), np.zeros((2, 0)), np.zeros(3), np.array([[1.0, np.nan]])])
def test_no_figure_is_made_of_nothing_or_of_what_is_no_number(figure, wrong):
    for call in (figure, lambda found: aggregate.profile(found, TAUS), lambda found: aggregate.improvement(found, found)):
        with pytest.raises(ConfigError, match=r"scores: (have shape|hold nan at 0, 1)"):
            call(wrong)


def test_improvement_is_over_the_same_tasks():
    with pytest.raises(ConfigError, match="on 3 and 1 tasks"):
        aggregate.improvement(np.zeros((1, 3)), np.zeros((1, 1)))
