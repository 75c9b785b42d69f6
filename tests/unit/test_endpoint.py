from __future__ import annotations

import threading
import time

import pytest

from xplearn.endpoint import Endpoint, EndpointConfig
from xplearn.errors import ConfigError, EndpointError
from xplearn.testing.server import ChatServer, completion

ASKED = ({"role": "user", "content": "Say it\ud800."},)
SETTINGS = {"temperature": 0, "max_tokens": 99}


@pytest.fixture
def model():
    with ChatServer(lambda number, request: completion("Yes.")) as server:
        yield server


@pytest.fixture
def config(model):
    return EndpointConfig(url=model.url, model="small", timeout_seconds=60.0)


@pytest.fixture
def hasty(model):
    return EndpointConfig(url=model.url, model="small", timeout_seconds=0.2)


def ask(config):
    return Endpoint(config).ask(ASKED, SETTINGS)


def test_a_request_follows_the_protocol_and_bears_the_key(model, config, monkeypatch):
    monkeypatch.setenv("XPLEARN_TEST_KEY", " secret\n")
    config.key_env = "XPLEARN_TEST_KEY"
    assert ask(config).text == "Yes."
    assert model.requests == [{"model": "small", "messages": list(ASKED), **SETTINGS}]
    path, headers = model.headers[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"


def test_without_a_key_none_is_sent(model, config):
    ask(config)
    assert "Authorization" not in model.headers[0][1]


@pytest.mark.parametrize(("value", "said"), [(None, "is not set"), ("  ", "is not set"), ("se\ncret", "printable ASCII")])
def test_a_key_that_is_absent_or_no_key_is_told_without_saying_it(config, monkeypatch, value, said):
    monkeypatch.delenv("XPLEARN_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("XPLEARN_TEST_KEY", value)
    config.key_env = "XPLEARN_TEST_KEY"
    with pytest.raises(ConfigError, match=said) as caught:
        Endpoint(config)
    assert "XPLEARN_TEST_KEY" in str(caught.value)
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
        b'{"choices": null}',
        b'{"choices": [{"message": "Yes."}]}',
        b'{"choices": [{"message": {"content": ["Yes."]}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_reply_that_is_no_completion_is_no_answer(model, config, body):
    model.script((200, body))
    with pytest.raises(EndpointError, match=f"^{model.url}: the reply is no chat completion") as caught:
        ask(config)
    assert caught.value.passing


@pytest.mark.parametrize("how", ["hang", "drip"])
def test_a_server_that_falls_silent_or_drips_is_left_in_time(model, hasty, how):
    model.script(how)
    began = time.monotonic()
    with pytest.raises(EndpointError):
        ask(hasty)
    assert 0.15 < time.monotonic() - began < 20


def test_a_reply_without_end_is_read_only_so_far(model, config):
    model.script(completion("x" * (3 << 20)))
    with pytest.raises(EndpointError, match="is no chat completion"):
        ask(config)


def test_an_answer_may_be_empty_or_cut_off(model, config):
    model.script(completion("", "stop"), completion(None, "length"), completion("Go to", "length"), completion("Go", "content_filter"))
    found = [ask(config) for _ in range(4)]
    assert [(reply.text, reply.finish) for reply in found] == [("", "stop"), ("", "length"), ("Go to", "length"), ("Go", "stop")]


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        '{"error": {"type": "exceed_context_size_error", "message": "the request exceeds the available context size"}}',
        '{"error": {"code": "context_length_exceeded"}}',
        "Please use fewer tokens: they exceed the context window.",
    ],
)
def test_a_conversation_too_long_for_the_model_is_told_apart(model, config, words):
    model.script((400, words.encode()))
    assert (ask(config).text, ask(config).finish) == ("", "context")


@pytest.mark.parametrize(("status", "passing"), [(400, False), (422, False), (408, True), (429, True), (500, True), (503, True)])
def test_what_may_pass_is_told_from_what_will_not(model, config, status, passing):
    model.script((status, b"so\nit is \x1b[31m"))
    with pytest.raises(EndpointError) as caught:
        ask(config)
    assert str(caught.value) == f"{model.url}: answers {status} 'so it is [31m'"
    assert (caught.value.url, caught.value.passing) == (model.url, passing)


@pytest.mark.parametrize("status", [301, 302, 307, 308, 401, 403, 404, 405])
def test_a_server_that_refuses_us_is_a_fault_of_the_configuration_and_is_followed_nowhere(model, config, monkeypatch, status):
    monkeypatch.setenv("XPLEARN_TEST_KEY", "secret")
    config.key_env = "XPLEARN_TEST_KEY"
    model.script((status, b"no such key: secret \x1b[31m"))
    with pytest.raises(ConfigError, match=f"answers {status} 'no such key: ….*; check url, model and key_env") as caught:
        ask(config)
    assert "secret" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(model.requests) == 1


def test_nobody_listening_may_pass(model, config):
    model.close()
    with pytest.raises(EndpointError, match="ConnectionRefusedError") as caught:
        ask(config)
    assert caught.value.passing


def test_requests_under_way_end_when_told_to(model, config):
    model.script(ChatServer.HANG)
    endpoint, failed = Endpoint(config), []

    def wait():
        with pytest.raises(EndpointError):
            endpoint.ask(ASKED, SETTINGS)
        failed.append(True)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not model.requests:
        time.sleep(0.01)
    endpoint.hang_up()
    waiting.join(25)
    assert failed, "it waited for its own limit"


def test_nothing_is_asked_once_it_was_told_to_stop(model, config):
    stop = threading.Event()
    stop.set()
    with pytest.raises(EndpointError, match="nobody waits for it any more"):
        Endpoint(config).ask(ASKED, SETTINGS, stop)
    assert model.requests == []


def test_pauses_double_up_to_half_a_minute(config):
    config.backoff_seconds = 1.5
    assert [config.pause_seconds(attempt) for attempt in (1, 2, 3, 5, 6, 100)] == [1.5, 3.0, 6.0, 24.0, 30.0, 30.0]
