from __future__ import annotations

from xplearn.keys import query_text, trajectory_key
from xplearn.testing import samples


def test_key_is_goal_and_first_observation_alone():
    first = samples.query(3)
    later = samples.query(3, steps=4)
    text = query_text(later.task, later.messages)
    assert text == query_text(first.task, first.messages) == first.messages[1]["content"]
    assert "Door" not in text


def test_key_states_the_goal_where_the_first_turn_does_not():
    messages = ({"role": "user", "content": "You see a lamp."},)
    assert query_text(samples.task(0), messages) == "boil object number 0\n\nYou see a lamp."
    assert query_text(samples.task(0), ()) == "boil object number 0"


def test_trajectory_is_found_by_the_key_its_task_asks_with():
    assert trajectory_key(samples.trajectory(5)) == query_text(samples.task(5), samples.opening(5))
    assert trajectory_key(samples.trajectory(5, length=0)) == "paint object number 5"
