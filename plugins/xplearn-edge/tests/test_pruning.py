from __future__ import annotations

import numpy as np
import pytest
from xplearn_edge.pruning import Limits, surplus
from xplearn_edge.utility import moved, streak

PAPER = Limits(below=-0.1)
CODE = Limits(below=-0.25, min_uses=5, negative_windows=2, min_age=20)
REPEATS, UPDATES, TRAJECTORIES = 10_000, 20, 4
FALSE_PRUNES = [
    (0.0, 0.5, (99, 98, 88, 71)),
    (0.0, 0.1, (39, 37, 35, 0.1)),
    (0.1, 0.5, (93, 87, 64, 6)),
    (0.1, 0.1, (9, 8, 8, 0)),
    (0.2, 0.5, (72, 59, 36, 0.1)),
    (0.2, 0.1, (1, 1, 1, 0)),
]
"""True gain, mu, and percent pruned: by single groups; after 5 updates; only after 2 negative ones in a row; by means of 8 groups."""


def test_the_traced_entry_survives_by_the_margin_that_zero_would_not_leave():
    utilities = [-0.026, -0.085, 0.452, -0.1, -0.11]
    assert PAPER.harmful(utilities, 142, 1, 200).tolist() == [False, False, False, False, True]
    assert Limits(below=0.0).harmful(utilities, 142, 1, 200).tolist() == [True, True, False, True, True]


def test_without_a_margin_nothing_is_harmful():
    assert not Limits(below=None).harmful([-9.0, -1.0], [9, 9], [9, 9], [99, 99]).any()


@pytest.mark.parametrize(
    ("utility", "uses", "negative", "age", "harmful"),
    [
        (-0.3, 5, 2, 21, True),
        (-0.25, 5, 2, 21, False),
        (-0.3, 4, 2, 21, False),
        (-0.3, 5, 1, 21, False),
        (-0.3, 5, 2, 20, False),
    ],
)
def test_all_conditions_of_the_released_code_must_hold_together(utility, uses, negative, age, harmful):
    assert CODE.harmful(utility, uses, negative, age) == harmful


def test_surplus_is_what_is_worth_least_with_the_benefit_of_the_doubt():
    utility, uses = [0.1, 0.0, 0.2, -0.1], [50, 0, 50, 0]
    bonus = 0.5 * np.sqrt(np.log1p(100) / (1 + np.array(uses)))
    order = np.argsort(np.array(utility) + bonus)
    assert surplus(utility, uses, 2, ucb=0.5).tolist() == order[:2].tolist() == [0, 2]
    assert surplus(utility, uses, 2, ucb=0.0).tolist() == [3, 1]
    assert surplus(utility, uses, -1, ucb=0.5).tolist() == []


def test_of_equally_worthy_entries_the_older_go():
    assert surplus([0.0] * 4, [0] * 4, 2, ucb=0.5).tolist() == [0, 1]


def pruned(gains, mu, limits, groups):
    """Percent of entries that the real update and rule drop at any of the updates; ``gains`` is ``[updates, entries]``."""
    utility, negative = np.zeros(gains.shape[1]), np.zeros(gains.shape[1], dtype=np.int64)
    gone = np.zeros(gains.shape[1], dtype=bool)
    for update, gain in enumerate(gains, start=1):
        utility, negative = moved(utility, gain, mu), streak(negative, gain)
        gone |= limits.harmful(utility, update * groups * TRAJECTORIES, negative, update)
    return 100.0 * gone.mean()


def measured(true_gain, groups, rng):
    """Gains of four against four trajectories of a mean success of one half, averaged over so many groups: ``[updates, entries]``."""
    shape = (UPDATES, REPEATS, groups)
    arms = [rng.binomial(TRAJECTORIES, 0.5 + sign * true_gain / 2, shape) / TRAJECTORIES for sign in (1, -1)]
    return (arms[0] - arms[1]).mean(-1)


@pytest.mark.parametrize(("true_gain", "mu", "expected"), FALSE_PRUNES)
def test_how_many_useful_entries_are_pruned_is_as_was_measured(true_gain, mu, expected):
    rng = np.random.default_rng(0)
    single, averaged = measured(true_gain, 1, rng), measured(true_gain, 8, rng)
    found = (
        pruned(single, mu, PAPER, 1),
        pruned(single, mu, Limits(below=-0.1, min_uses=5 * TRAJECTORIES), 1),
        pruned(single, mu, Limits(below=-0.1, negative_windows=2), 1),
        pruned(averaged, mu, PAPER, 8),
    )
    assert found == pytest.approx(expected, abs=2.0)  # half a percent of rounding, and three deviations of the difference of two samples
