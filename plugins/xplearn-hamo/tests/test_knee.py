from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from xplearn_hamo.knee import CoverageCurve, knee


def plain(gains):
    """The formula, in fractions."""
    heights = [Fraction(sum(gains[:n]), sum(gains)) - Fraction(n, len(gains)) for n in range(1, len(gains) + 1)]
    return heights.index(max(heights)) + 1


@pytest.mark.parametrize("seed", range(50))
def test_the_knee_is_where_coverage_less_share_of_anchors_is_largest(seed):
    rng = np.random.default_rng(seed)
    gains = sorted(rng.integers(1, 12, size=rng.integers(1, 40)).tolist(), reverse=True)
    assert knee(gains) == plain(gains)


def test_a_sharp_bend_is_found():
    assert knee([50, 40, 1, 1, 1, 1, 1, 1, 1, 1]) == 2


def test_a_tie_goes_to_fewer_anchors():
    assert knee([4, 2, 2, 1, 1]) == 1  # the second and third anchor gain just the mean, so the curve runs level above the line


def test_a_straight_curve_gets_one_anchor():
    assert knee([3, 3, 3, 3, 3, 3, 3]) == 1


def test_a_single_anchor_is_the_knee_even_if_it_gains_nothing():
    assert knee([7]) == knee([0]) == 1


def test_without_anchors_there_is_no_knee():
    assert knee([]) == 0


def test_millions_do_not_overflow():
    assert knee([2] * 500_000 + [1] * 500_000) == 500_000


def test_a_curve_tells_how_many_are_covered():
    curve = CoverageCurve(cards=9, ids=("b", "a", "c"), gains=(5, 2, 1), knee=1, kept=1)
    assert curve.covered == (5, 7, 8)
