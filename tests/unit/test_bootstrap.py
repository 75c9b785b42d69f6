import numpy as np
import pytest

from xplearn.metrics.bootstrap import Bootstrap
from xplearn.seeding import derive


def test_mean_is_exact_and_inside_its_interval():
    found = Bootstrap(seed=1).mean([1.0, 2.0, 6.0, 7.0])
    assert found.mean == 4.0
    assert 1.0 <= found.low < 4.0 < found.high <= 7.0


def test_same_seed_gives_the_same_interval_and_another_seed_another():
    values = np.random.Generator(np.random.PCG64(3)).normal(size=50).tolist()
    first = Bootstrap(seed=1).mean(values)
    assert first == Bootstrap(seed=1).mean(values)
    assert first.low != Bootstrap(seed=2).mean(values).low


def test_one_value_says_nothing_about_the_spread():
    found = Bootstrap().mean([0.5])
    assert (found.mean, found.low, found.high) == (0.5, None, None)
    assert found.scaled(100.0).mean == 50.0


def test_equal_values_have_an_interval_without_width():
    found = Bootstrap().mean([0.25] * 9).scaled(100.0)
    assert (found.low, found.mean, found.high) == (25.0, 25.0, 25.0)


def test_more_confidence_is_wider():
    values = list(range(20))
    narrow, wide = Bootstrap(confidence=0.5).mean(values), Bootstrap(confidence=0.99).mean(values)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_interval_covers_the_truth_as_often_as_it_says():
    rounds = 1000
    hits = 0
    for trial in range(rounds):
        rng = np.random.Generator(np.random.PCG64(derive(0, "coverage", trial)))
        found = Bootstrap(resamples=400, seed=trial).mean(rng.beta(0.5, 0.8, size=100))
        hits += found.low <= 0.5 / 1.3 <= found.high
    assert 0.93 <= hits / rounds <= 0.97


def test_interval_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = np.random.Generator(np.random.PCG64(5)).gamma(2.0, size=80)
    ours = Bootstrap(resamples=20_000).mean(values)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    width = theirs.high - theirs.low
    assert abs(ours.low - theirs.low) < 0.03 * width
    assert abs(ours.high - theirs.high) < 0.03 * width


def test_groups_of_the_same_sizes_are_drawn_alike_whatever_they_hold_and_however_much(monkeypatch):
    rng = np.random.Generator(np.random.PCG64(7))
    first, second = rng.normal(size=30), rng.normal(size=(50, 3))
    whole = Bootstrap(resamples=200).means([first, second])
    monkeypatch.setattr("xplearn.metrics.bootstrap._CHUNK", 1000)
    pieces = Bootstrap(resamples=200).means([first, second[:, 1]])
    assert [found.shape for found in (*whole, *pieces)] == [(200,), (200, 3), (200,), (200,)]
    np.testing.assert_allclose(whole[0], pieces[0])
    np.testing.assert_allclose(whole[1][:, 1], pieces[1])
