from __future__ import annotations

import pytest

from xplearn.builtin.conditioners import NoneConditioner, PromptConditioner
from xplearn.errors import ConfigError
from xplearn.testing import samples
from xplearn.types import Experience, Query, Selection


def selection(*contents: str) -> Selection:
    experiences = tuple(Experience(id=str(at), kind="card", key="", content=content) for at, content in enumerate(contents))
    return Selection(experiences=experiences, scores=(1.0,) * len(contents))


def test_none_shows_nothing_of_a_selection():
    query = samples.query(0, steps=2)
    (conditioning,) = NoneConditioner().condition([query], [selection("a secret")])
    assert conditioning.messages is query.messages
    assert conditioning.memory is None


def test_empty_selection_leaves_the_very_messages():
    query = samples.query(0, steps=2)
    (conditioning,) = PromptConditioner().condition([query], [Selection()])
    assert conditioning.messages is query.messages


def test_block_stands_before_the_task_in_the_first_user_turn():
    query = samples.query(0, steps=1)
    (conditioning,) = PromptConditioner().condition([query], [selection("go left", "go right")])
    assert conditioning.messages[1]["content"] == (
        "Related experience:\n1. go left\n2. go right\n\nTask: boil object number 0\n\nYou are in room 0. You see a door and a lamp."
    )
    assert conditioning.messages[0] == query.messages[0]
    assert conditioning.messages[2:] == query.messages[2:]
    assert conditioning.memory is None


def test_long_experience_is_cut():
    conditioner = PromptConditioner(title="Earlier", limit_chars=10)
    (conditioning,) = conditioner.condition([samples.query(0)], [selection("x" * 10, "word word word")])
    assert conditioning.messages[1]["content"].startswith("Earlier\n1. " + "x" * 10 + "\n2. word word …\n\nTask")


def test_conversation_without_a_user_turn_gets_one():
    query = Query(purpose="act", task=samples.task(0), messages=({"role": "system", "content": "Act."},))
    (conditioning,) = PromptConditioner().condition([query], [selection("go left")])
    assert conditioning.messages == (*query.messages, {"role": "user", "content": "Related experience:\n1. go left"})


def test_provides_text():
    assert PromptConditioner().provides == {"conditioner.text", "conditioner.shows"}
    assert NoneConditioner().provides == {"conditioner.none"}


def test_impossible_limit_is_refused():
    with pytest.raises(ConfigError, match="limit_chars"):
        PromptConditioner(limit_chars=0)
