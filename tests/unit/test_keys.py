from __future__ import annotations

from xplearn.keys import led_by, opening_turn, query_text, trajectory_key
from xplearn.testing import samples
from xplearn.types import Query


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


def test_the_turn_that_opens_a_task_may_follow_examples():
    examples = ({"role": "user", "content": "boil object number 7"}, {"role": "assistant", "content": "done"})
    asked = {"role": "user", "content": "boil object number 0\n\nYou see a lamp."}
    messages = ({"role": "system", "content": "Act."}, *examples, asked, {"role": "assistant", "content": "look"})
    assert opening_turn(samples.task(0), messages) == 3
    assert query_text(samples.task(0), messages) == asked["content"]
    query = Query(purpose="act", task=samples.task(0), messages=messages)
    assert [message["content"] for message in led_by("Note.", query)][3] == f"Note.\n\n{asked['content']}"
    assert led_by("Note.", query)[:3] == messages[:3]


def test_a_conversation_without_a_user_turn_gets_one():
    query = Query(purpose="act", task=samples.task(0), messages=())
    assert led_by("Note.", query) == ({"role": "user", "content": "Note."},)
