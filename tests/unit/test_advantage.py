import math

import pytest

from xplearn.learning.advantage import advantages, groups_without_variance, std, step_advantages


def test_a_group_is_centred_and_divided_by_its_own_spread():
    found = advantages([1.0, 0.0, 0.0, 0.0], ["a"] * 4)
    spread = math.sqrt((0.75**2 + 3 * 0.25**2) / 3) + 1e-4
    assert found == pytest.approx([0.75 / spread] + [-0.25 / spread] * 3)


def test_groups_are_judged_apart_whatever_their_order_and_size():
    mixed = advantages([1.0, 0.2, 0.0, 0.4, 0.6], ["a", "b", "a", "b", "b"])
    assert [mixed[0], mixed[2]] == advantages([1.0, 0.0], ["a", "a"])
    assert [mixed[1], mixed[3], mixed[4]] == advantages([0.2, 0.4, 0.6], ["b"] * 3)


def test_the_spread_may_be_that_of_the_batch_or_none():
    returns, groups = [1.0, 0.0, 0.5, 0.25], ["a", "a", "b", "b"]
    assert advantages(returns, groups, scale="none") == pytest.approx([0.5, -0.5, 0.125, -0.125])
    spread = std(returns) + 1e-4
    assert advantages(returns, groups, scale="batch") == pytest.approx([value / spread for value in (0.5, -0.5, 0.125, -0.125)])


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_ties_and_groups_of_one_give_exactly_nothing(scale):
    returns = [0.1, 0.1, 0.1, 0.7, 1.0, 0.0]  # the mean of three times 0.1 is not 0.1
    found = advantages(returns, ["tie"] * 3 + ["alone", "pair", "pair"], scale=scale)
    assert found[:4] == [0.0] * 4
    assert found[4] == -found[5] > 0


def test_groups_without_variance_are_counted():
    assert groups_without_variance([0.1, 0.1, 0.1, 0.7, 1.0, 0.0], ["tie"] * 3 + ["alone", "pair", "pair"]) == 2


def test_members_of_several_trajectories_come_back_by_trajectory():
    returns, groups = [[1.0, 0.2], [], [0.0, 0.4, 0.6]], [["a", "b"], [], ["a", "b", "b"]]
    first, none, last = step_advantages(returns, groups)
    assert ((first[0], last[0]), none) == (tuple(advantages([1.0, 0.0], ["a", "a"])), ())
    assert [first[1], *last[1:]] == advantages([0.2, 0.4, 0.6], ["b"] * 3)


def test_nothing_gives_nothing():
    assert advantages([], []) == []
    assert groups_without_variance([], []) == 0
