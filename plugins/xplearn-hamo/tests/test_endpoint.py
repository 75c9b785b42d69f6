from __future__ import annotations

import json
import time

import pytest
from xplearn_hamo.account import Account
from xplearn_hamo.endpoint import Endpoint, EndpointConfig, NoAnswerError
from xplearn_hamo.writers import EndpointWriter

from xplearn import ConfigError

ASKED = ({"role": "user", "content": "Say it\ud800."},)
LINES = ("Find a lamp", "Switch it on", "Done when it is bright")


def told(number=0):
    return Account(goal=f"light room {number}", start="It is dark.", actions=("use lamp 1",))


def reply(text):
    return 200, json.dumps({"choices": [{"message": {"content": text}}]}).encode()


GOOD = reply("1. Find a lamp\n2. Switch it on\n3. Done when it is bright")


@pytest.fixture
def config(model):
    return EndpointConfig(url=model.url, model="small", timeout_seconds=5.0, retries=2, backoff_seconds=0.01)


@pytest.fixture
def hasty(model):
    return EndpointConfig(url=model.url, model="small", timeout_seconds=0.2, retries=1, backoff_seconds=0.01)


def writer(config):
    return EndpointWriter(config, max_steps=8, max_new_tokens=99)


def test_a_request_follows_the_protocol_and_bears_the_key(model, config, monkeypatch):
    monkeypatch.setenv("HAMO_TEST_KEY", " secret\n")
    config.key_env = "HAMO_TEST_KEY"
    model.script(reply("Yes."))
    assert Endpoint(config).ask(ASKED, 99) == "Yes."
    assert model.requests == [{"model": "small", "messages": list(ASKED), "temperature": 0, "max_tokens": 99}]
    path, headers = model.headers[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"


def test_without_a_key_none_is_sent(model, config):
    Endpoint(config).ask(ASKED, 9)
    assert "Authorization" not in model.headers[0][1]


@pytest.mark.parametrize(("value", "said"), [(None, "is not set"), ("  ", "is not set"), ("se\ncret", "printable ASCII")])
def test_a_key_that_is_absent_or_no_key_is_told_without_saying_it(config, monkeypatch, value, said):
    monkeypatch.delenv("HAMO_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("HAMO_TEST_KEY", value)
    config.key_env = "HAMO_TEST_KEY"
    with pytest.raises(ConfigError, match=said) as caught:
        Endpoint(config)
    assert "HAMO_TEST_KEY" in str(caught.value)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", ""),
        ("model", " "),
        ("timeout_seconds", 0.0),
        ("timeout_seconds", 1e300),
        ("timeout_seconds", 3601.0),
        ("timeout_seconds", float("inf")),
        ("timeout_seconds", float("nan")),
        ("retries", -1),
        ("retries", 10**400),
        ("backoff_seconds", -1.0),
        ("backoff_seconds", 31.0),
        ("backoff_seconds", float("nan")),
    ],
)
def test_settings_are_checked(field, value):
    with pytest.raises(ConfigError) as caught:
        EndpointConfig(**{"url": "http://localhost/v1", "model": "m", field: value})
    assert caught.value.path == field


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://x/v1",
        "http://",
        "http:///v1",
        "http://h:abc/v1",
        "http://h:99999/v1",
        "http://h:0/v1",
        "http://h:-1/v1",
        "http://h:٣/v1",
        "http://[::1",
        "http://[::1/v1",
        "http://[:::]/v1",
        "http://[localhost]/v1",
        "http://::1/v1",
        "http://h/v 1",
        " http://h/v1",
        "http://h/v1\n",
        "http://h\t/v1",
        "http://a b/v1",
        "http://a..b/v1",
        "http://" + "a" * 64 + "/v1",
        "http://<host>:8000/v1",
        "http://$HOST/v1",
        "http://h/v1/\u00e9",
        "http://h\x1b[31m/v1",
        "http://h\ud800/v1",
        "http:\\\\h\\v1",
    ],
)
def test_what_is_no_address_is_told_with_an_example(url):
    with pytest.raises(ConfigError, match=r"is no web address; want http or https.*http://localhost:8000/v1$") as caught:
        EndpointConfig(url=url, model="m")
    assert caught.value.path == "url"
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "url",
    ["http://h/v1?key=secret", "http://user:secret@host/v1", "http://user:se/cret@host", "http://h/v1#secret", "http://h?", "http://@h"],
)
def test_an_address_that_may_hold_a_key_is_refused_without_saying_it(url):
    with pytest.raises(ConfigError, match=r"url: must hold no user.*key_env") as caught:
        EndpointConfig(url=url, model="m")
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("name", ["sk-secret", "A=secret", "1secret", "a b"])
def test_a_key_in_the_place_of_its_variable_is_refused_without_saying_it(name):
    with pytest.raises(ConfigError, match="key_env: is no name of an environment variable") as caught:
        EndpointConfig(url="http://localhost/v1", model="m", key_env=name)
    assert name not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "http://localhost/",
        "HTTPS://Api.Example.com:443/openai/v1/",
        "http://127.0.0.1:8000/v1",
        "http://[::1]:8000/v1",
        "http://vllm_1:65535/a%20b/~x",
        "http://host./v1",
    ],
)
def test_what_is_an_address_is_taken(url):
    assert EndpointConfig(url=url, model="m", timeout_seconds=3600, backoff_seconds=30, retries=100).url == url


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {"content": null}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_reply_that_is_no_completion_is_no_answer(model, config, body):
    model.script((200, body))
    with pytest.raises(NoAnswerError):
        Endpoint(config).ask(ASKED, 9)


@pytest.mark.parametrize("how", ["hang", "drip"])
def test_a_server_that_falls_silent_or_drips_is_left_in_time(model, hasty, how):
    model.script(how)
    began = time.monotonic()
    with pytest.raises(NoAnswerError):
        Endpoint(hasty).ask(ASKED, 9)
    assert 0.15 < time.monotonic() - began < 20


def test_a_reply_without_end_is_read_only_so_far(model, config):
    model.script((200, b'{"choices": [{"message": {"content": "' + b"x" * (3 << 20)))
    with pytest.raises(NoAnswerError):
        Endpoint(config).ask(ASKED, 9)


@pytest.mark.parametrize(
    "bad",
    ["hang", (500, b"oops"), (429, b""), (200, b"not json"), (200, b'{"choices": []}'), reply("no outline"), reply("1. x\n3. y")],
    ids=["hang", "500", "429", "malformed", "no choices", "no outline", "out of order"],
)
def test_failures_and_nonsense_are_asked_again(model, config, bad):
    model.script(bad, GOOD)
    config.timeout_seconds = 0.3
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
        return reply(f"1. Use the lamp of room{'abc'[int(room)]}\n2. Done")

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
