"""Cards whose outlines a model behind an endpoint writes: asked again, given up, counted."""

from __future__ import annotations

import time

import pytest
from xplearn_hamo.account import Account
from xplearn_hamo.writers import EndpointWriter

from xplearn import ConfigError
from xplearn.endpoint import EndpointConfig
from xplearn.testing.server import completion

LINES = ("Find a lamp", "Switch it on", "Done when it is bright")
GOOD = completion("1. Find a lamp\n2. Switch it on\n3. Done when it is bright")


def told(number=0):
    return Account(goal=f"light room {number}", start="It is dark.", actions=("use lamp 1",))


@pytest.fixture
def config(model):
    return EndpointConfig(url=model.url, model="small", timeout_seconds=60.0, retries=2, backoff_seconds=0.01)


def writer(config):
    return EndpointWriter(config, max_steps=8, max_new_tokens=99)


@pytest.mark.parametrize(
    "bad",
    ["hang", (500, b"oops"), (429, b""), (200, b"not json"), (200, b'{"choices": []}'), completion("no outline"), completion("1. x\n3. y")],
    ids=["hang", "500", "429", "malformed", "no choices", "no outline", "out of order"],
)
def test_failures_and_nonsense_are_asked_again(model, config, bad):
    def reply(number, request):
        config.timeout_seconds = 60.0  # of the next: an answer has more time than silence
        return GOOD if number else bad

    config.timeout_seconds, model.reply = 1.0, reply
    assert writer(config).write([told()]) == [LINES]
    assert len(model.requests) == 2


def test_a_card_is_given_up_after_its_retries(model, config):
    model.script((500, b""))
    assert writer(config).write([told()]) == [None]
    assert len(model.requests) == 3


def test_a_request_that_the_server_cannot_take_is_not_repeated(model, config):
    model.script((400, b"too long"))
    assert writer(config).write([told()]) == [None]
    assert len(model.requests) == 1


def test_a_card_whose_story_does_not_fit_the_model_is_not_asked_for_again(model, config):
    model.script((400, b"This model's maximum context length is 64 tokens."))
    assert writer(config).write([told()]) == [None]
    assert len(model.requests) == 1


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_a_server_that_refuses_us_is_a_fault_of_the_configuration(model, config, monkeypatch, status):
    monkeypatch.setenv("HAMO_TEST_KEY", "secret")
    config.key_env = "HAMO_TEST_KEY"
    model.script((status, b"no such key: secret \x1b[31m"))
    with pytest.raises(ConfigError, match=f"answers {status}.*check url, model and key_env") as caught:
        writer(config).write([told()])
    assert "secret" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(model.requests) == 1


def test_nobody_listening_is_no_answer(model, config):
    model.close()
    assert writer(config).write([told()]) == [None]


def test_an_endpoint_that_stays_silent_is_not_asked_for_ever(model, config):
    model.script((503, b""))
    config.retries = 0
    asking = writer(config)
    for start in range(0, 40, 4):
        assert asking.write([told(start + number) for number in range(4)]) == [None] * 4
    assert len(model.requests) == 8


def test_one_answer_shows_that_the_endpoint_lives(model, config):
    model.reply = lambda number, request: GOOD if number % 8 == 7 else (503, b"")
    config.retries = 0
    asking = writer(config)
    for number in range(24):
        asking.write([told(number)])
    assert len(model.requests) == 24


def test_outlines_come_back_in_order_whatever_answers_first(model, config):
    def by_room(number, request):
        room = request["messages"][-1]["content"].split("\n")[0].rpartition(" ")[2]
        time.sleep(0.2 if room == "0" else 0.0)
        return completion(f"1. Use the lamp of room{'abc'[int(room)]}\n2. Done")

    model.reply = by_room
    lines = writer(config).write([told(number) for number in range(3)])
    assert [found[0] for found in lines] == ["Use the lamp of rooma", "Use the lamp of roomb", "Use the lamp of roomc"]
    assert writer(config).write([]) == []


def test_identity_names_model_and_place_but_no_key(config, monkeypatch):
    monkeypatch.setenv("HAMO_TEST_KEY", "secret")
    before = writer(config).identity
    config.key_env = "HAMO_TEST_KEY"
    assert writer(config).identity == before
    config.model = "other"
    assert writer(config).identity != before
