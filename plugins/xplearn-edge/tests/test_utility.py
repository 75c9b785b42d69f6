from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from xplearn_edge.gains import groups
from xplearn_edge.utility import Window, exposure, moved, streak

from xplearn import Selection
from xplearn.testing import samples


def played(arm, score, *shown, replica=0, group="g"):
    """A trajectory of this arm and score; each of ``shown`` lists the numbers of the experiences that one of its steps was shown."""
    base = samples.trajectory(0, length=max(1, len(shown)))
    selections = [Selection(experiences=tuple(samples.experience(number) for number in step)) for step in (shown or ((),))]
    steps = tuple(dataclasses.replace(step, selection=found) for step, found in zip(base.steps, selections, strict=True))
    return dataclasses.replace(
        base, id=f"{group}/{arm}/{replica}", arm=arm, group=group, steps=steps, score=score, success=score == 1.0, source="rollout"
    )


def test_utility_moves_by_the_papers_formula():
    assert moved(0.2, -0.4, 0.5) == pytest.approx(0.5 * 0.2 + 0.5 * -0.4)
    assert moved(0.2, -0.4, 0.1) == pytest.approx(0.9 * 0.2 + 0.1 * -0.4)
    np.testing.assert_allclose(moved([0.0, 1.0], [1.0, 0.0], 0.5), [0.5, 0.5])


def test_a_utility_of_the_traced_entry_can_rise_as_far_as_it_did():
    utility = -0.085
    for _ in range(3):
        utility = float(moved(utility, 0.53, 0.5))
    assert utility == pytest.approx(0.452, abs=0.003)


def test_an_average_forgets_what_it_began_with_geometrically():
    utility = 1.0
    for _ in range(10):
        utility = float(moved(utility, 0.0, 0.5))
    assert utility == pytest.approx(0.5**10)


def test_a_row_of_negative_windows_ends_with_any_other_window():
    np.testing.assert_array_equal(streak([0, 2, 2, 2], [-0.1, -0.1, 0.0, math.nan]), [1, 3, 0, 0])


def test_an_entry_is_credited_once_a_group_and_used_once_a_trajectory():
    batch = [
        played("experience", 1.0, (1, 2), (1,), replica=0),
        played("experience", 0.5, (1,), replica=1),
        played("plain", 0.25, replica=0),
        played("plain", 0.25, replica=1),
    ]
    seen = exposure(groups(batch), "score")
    assert seen.uses == {"experience-1": 2, "experience-2": 1}
    assert seen.gains == {"experience-1": [0.5], "experience-2": [0.5]}


def test_gains_of_several_groups_stand_beside_one_another():
    batch = [
        played("experience", 1.0, (1,), group="a"),
        played("plain", 0.0, group="a"),
        played("experience", 0.0, (1,), group="b"),
        played("plain", 1.0, group="b"),
    ]
    assert exposure(groups(batch), "score").gains == {"experience-1": [1.0, -1.0]}


def test_a_group_with_an_empty_arm_counts_uses_and_no_gain():
    seen = exposure(groups([played("experience", 1.0, (1,))]), "score")
    assert (dict(seen.uses), dict(seen.gains)) == ({"experience-1": 1}, {})


@pytest.mark.parametrize(("reward", "gain"), [("score", 0.5), ("success", 1.0), ("return", 0.0)])
def test_the_gain_is_in_the_unit_of_the_reward(reward, gain):
    batch = [played("experience", 1.0, (1,)), played("plain", 0.5)]
    assert exposure(groups(batch), reward).gains == {"experience-1": [gain]}


def test_a_window_averages_over_groups_not_over_steps():
    window = Window().with_step({"a": [1.0, 1.0, 1.0]}).with_step({"a": [-1.0], "b": [0.25]})
    assert (window.steps, window.mean("a"), window.mean("b")) == (2, 0.5, 0.25)
    assert math.isnan(window.mean("c"))


def test_a_window_survives_as_json_values():
    window = Window().with_step({"a": [1.0, 0.1]})
    assert Window(**window.state()) == window
