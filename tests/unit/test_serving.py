from __future__ import annotations

import http.client
import socket
import threading
from urllib.parse import urlencode

import pytest

from xplearn.cli import main
from xplearn.cli.browser import Episode
from xplearn.cli.serving import Handler, Server, action_of
from xplearn.errors import DataError
from xplearn.plugins import installed
from xplearn.rollout.watched import WatchedEnvironment
from xplearn.types import Observation


@pytest.fixture
def env():
    watched = WatchedEnvironment("core.errands", lambda: installed().registry.make("environment", "core.errands", max_steps=3))
    yield watched
    watched.close()


@pytest.fixture
def server(env):
    server = Server(Episode(env, env.tasks("train")[0], 0))
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield server
    server.stop()
    thread.join(120)


def ask(server, method, path, form=None, **headers):
    host = server.address.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=120)
    body = urlencode(form, errors="surrogatepass") if form is not None else None
    connection.request(method, path, body, {"Host": host, **headers})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_the_page_offers_every_admissible_action(server, env):
    answer, text = ask(server, "GET", "/")
    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert all(f'value="{action}"' in text for action in env.admissible())
    assert "step 0 · score 0 of 100" in text


def test_an_action_is_taken_and_the_browser_sent_back(server):
    answer, _ = ask(server, "POST", "/act", {"action": "go to attic"})
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    assert "You are in the attic." in ask(server, "GET", "/")[1]
    ask(server, "POST", "/act", {"action": "dance"})
    assert "step 2 · score 0 of 100 · that action was not understood" in ask(server, "GET", "/")[1]


def test_after_the_end_nothing_happens_until_a_fresh_start(server):
    for _ in range(5):
        assert ask(server, "POST", "/act", {"action": "dance"})[0].status == 303
    text = ask(server, "GET", "/")[1]
    assert "step 3" in text
    assert "out of steps" in text
    assert "value=" not in text
    ask(server, "POST", "/reset", {})
    assert "step 0" in ask(server, "GET", "/")[1]


def test_pages_elsewhere_are_refused(server):
    assert ask(server, "POST", "/act", {"action": "dance"}, Origin="http://example.org")[0].status == 403
    assert ask(server, "POST", "/act", {"action": "dance"}, Origin="null")[0].status == 403
    assert ask(server, "GET", "/", Host="example.org")[0].status == 403
    assert ask(server, "GET", "/etc/passwd")[0].status == 404
    assert "step 0" in ask(server, "GET", "/")[1]


def test_localhost_is_this_machine_and_a_refusal_says_where_the_page_is(server):
    local = server.address.removeprefix("http://").replace("127.0.0.1", "localhost")
    assert ask(server, "GET", "/", Host=local)[0].status == 200
    assert ask(server, "POST", "/act", {"action": "dance"}, Host=local, Origin=f"http://{local}")[0].status == 303
    assert ask(server, "POST", "/act", {"action": "dance"}, Host=local, Origin="http://example.org")[0].status == 403
    assert f"The page is at {server.address}/" in ask(server, "GET", "/", Host="example.org")[1]


def test_text_of_an_environment_never_becomes_markup(env, monkeypatch):
    shout = Observation(text="<script>alert(1)</script>\x1b[2J", actions=('"><img src=x>',))
    monkeypatch.setattr("xplearn.builtin.toys_errands.Errands.reset", lambda *_, **__: shout)
    page = Episode(env, env.tasks("train")[0], 0).page()
    assert "<script" not in page
    assert "<img" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page


def test_an_error_of_the_environment_is_shown_and_ends_nothing(server, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("xplearn.builtin.toys_errands.Errands.step", lambda *_: 1 / 0)
        answer, text = ask(server, "POST", "/act", {"action": "dance"})
        assert answer.status == 500
        assert "core.errands" in text
    assert ask(server, "GET", "/")[0].status == 200


def test_odd_forms_are_answered(server):
    assert ask(server, "POST", "/act", {"action": "\ud800\x00" + "a" * 100_000})[0].status == 303
    assert ask(server, "POST", "/act", None, **{"Content-Length": "many"})[0].status == 303


def test_half_a_form_is_not_acted_on_and_a_browser_that_goes_away_is_not_told_of(server, monkeypatch, capfd):
    patience = Handler.timeout
    monkeypatch.setattr(Handler, "timeout", 0.5)
    host = server.address.removeprefix("http://")
    head = f"POST /act HTTP/1.1\r\nHost: {host}\r\nContent-Length: 25\r\n\r\naction=go+to+attic"
    for leaves in (True, False):
        with socket.create_connection(tuple(host.split(":"))) as client:
            client.sendall(head.encode())
            if leaves:
                client.shutdown(socket.SHUT_WR)
            assert client.recv(100) == b""
    with pytest.raises(ConnectionError):
        ask(server, "POST", "/act", None, **{"Content-Length": "9" * 5000})
    monkeypatch.setattr(Handler, "timeout", patience)
    assert "step 0 · score 0 of 100" in ask(server, "GET", "/")[1]
    assert capfd.readouterr().err == ""


def test_a_template_takes_the_text_once():
    assert action_of({"template": ["search[%s]"], "text": ["50%s off"]}) == "search[50%s off]"
    assert action_of({"action": ["click[a]"]}) == "click[a]"
    assert action_of({}) == ""


def test_a_taken_port_is_one_clear_error(server, env):
    port = int(server.address.rpartition(":")[2])
    with pytest.raises(DataError, match="leave out --port"):
        Server(Episode(env, env.tasks("train")[0], 0), port=port)
    with pytest.raises(DataError, match="leave out --port"):
        Server(Episode(env, env.tasks("train")[0], 0), port=10**6)


def test_html_and_oracle_exclude_each_other(capsys):
    with pytest.raises(SystemExit):
        main(["play", "core.errands", "--html", "--oracle"])
    assert "not allowed with" in capsys.readouterr().err
