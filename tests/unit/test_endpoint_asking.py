"""Many questions at once, to servers that behave as servers do."""

from __future__ import annotations

import signal
import socket
import ssl
import sys
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from xplearn.endpoint import Endpoint, EndpointConfig, Question
from xplearn.errors import ConfigError, EndpointError
from xplearn.testing.server import completion

LONG_AGO = "Sun, 06 Nov 1994 08:49:37 GMT"
A_SECOND_LATER = "Sun, 06 Nov 1994 08:49:38 GMT"
A_DAY_LATER = "Mon, 07 Nov 1994 08:49:37 GMT"
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7ZpCbt0+Xl5uM0wz
BxoK6pniOXYfDMeIb910Lyyw6nehRANCAASb0IRyqwgZJJdolj1pqLJOkNlExT38
o0mH9uGUSIR/VZ/zRdgzUn1ND/8ljnD3oEm1bWI3PnLgxLOQ5HiIFBUw
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBdjCCARygAwIBAgIBATAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5mb3IgdGVz
dHMgb25seTAgFw0wMDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowGTEXMBUG
A1UEAwwOZm9yIHRlc3RzIG9ubHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASb
0IRyqwgZJJdolj1pqLJOkNlExT38o0mH9uGUSIR/VZ/zRdgzUn1ND/8ljnD3oEm1
bWI3PnLgxLOQ5HiIFBUwo1MwUTAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQE
AwIChDAPBgNVHREECDAGhwR/AAABMB0GA1UdDgQWBBRAQ1zn1GQUrmt/+FRw6RkX
XbdcSDAKBggqhkjOPQQDAgNIADBFAiEAqTcbfIKlpY4ibuOAsjk3TNkSzaA3yE7G
/cqzI/W1hLoCIBhv2aZGSPAtAhZjniYjq0qyFylbBkL0E+N4K0hjKnA2
-----END CERTIFICATE-----
"""
"""Of 127.0.0.1, with its key, signed by itself; used nowhere else."""


def told(status, body=b"", **headers):
    """Answer so, with no more than these headers; ``Retry_After`` is sent as ``Retry-After``, and what is called says its value then."""

    def answer(handler):
        handler.send_response_only(status)
        for name, value in {"Content_Length": len(body), **headers}.items():
            handler.send_header(name.replace("_", "-"), str(value() if callable(value) else value))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def tomorrow():
    return formatdate(time.time() + 86400, usegmt=True)


def says(text):
    return told(*completion(text))


def hang(handler):
    handler.server.ended.wait()


def drip(handler):
    told(200, Content_Length=1000)(handler)
    while not handler.server.ended.wait(0.02):
        handler.wfile.write(b" ")


def close(handler):
    """Hang up without a word."""


def babble(handler):
    handler.wfile.write(b"220 mail.example.com ESMTP\r\n")


GOOD = says("Yes.")
HALF = told(200, completion("Yes.")[1][:-9], Content_Length=len(completion("Yes.")[1]))
BUSY = told(503, b"busy")


class Server(ThreadingHTTPServer):
    """Treats its first request in the first manner, and so on; all later ones in the last."""

    daemon_threads, block_on_close = True, False

    def __init__(self, *manners):
        self.manners, self.bodies, self.times = manners, [], []
        self.ended, self.lock = threading.Event(), threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def handle_error(self, *_):
        """Clients that hang up are part of the tests."""

    def address(self, scheme="http"):
        return f"{scheme}://127.0.0.1:{self.server_address[1]}/v1"

    def close(self):
        self.ended.set()
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        with self.server.lock:
            number = len(self.server.bodies)
            self.server.bodies.append(self.body)
            self.server.times.append(time.monotonic())
        self.server.manners[min(number, len(self.server.manners) - 1)](self)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def serve():
    servers = []

    def start(*manners):
        servers.append(Server(*manners))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def endpoint(url, **fields):
    return Endpoint(EndpointConfig(**{"url": url, "model": "small", "timeout_seconds": 3600.0, "backoff_seconds": 0.0, **fields}))


def question(words="Well?", **fields):
    return Question(messages=({"role": "user", "content": words},), settings={"temperature": 0}, **fields)


def ask(server, count=1, parallel=8, **fields):
    return endpoint(server.address(), **fields).ask_all([question(f"Number {number}?") for number in range(count)], parallel=parallel)


# ---------------------------------------------------------------- what passes


@pytest.mark.parametrize(
    "bad",
    {
        "busy": BUSY,
        "too many, as a number": told(429, Retry_After="0"),
        "too many, as a date": told(429, Retry_After=LONG_AGO),
        "too many, in no known way": told(429, Retry_After="soon", Date="today"),
        "timeout there": told(504, b"<html>gateway</html>"),
        "half an answer": HALF,
        "not JSON": told(200, b"<html>Yes.</html>"),
        "wrong shape": told(200, b'{"choices": {"0": "Yes."}}'),
        "closes": close,
        "no HTTP": babble,
    }.items(),
    ids=lambda bad: bad[0],
)
def test_what_may_pass_is_asked_again_in_the_same_words(serve, bad):
    server = serve(bad[1], GOOD)
    assert [reply.text for reply in ask(server)] == ["Yes."]
    assert len(server.bodies) == 2
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize("slow", [hang, drip])
def test_what_takes_too_long_is_asked_again(serve, slow):
    server = serve(slow, GOOD)
    questioned = endpoint(server.address(), timeout_seconds=0.3, retries=50)
    assert [reply.text for reply in questioned.ask_all([question()], parallel=1)] == ["Yes."]


def test_what_took_too_long_is_said(serve):
    with pytest.raises(EndpointError, match=r"no answer to 1 requests, at last TimeoutError: timed out$"):
        ask(serve(drip), timeout_seconds=0.2, retries=0)


@pytest.mark.parametrize(
    "busy", [told(429, Retry_After="1"), told(503, Date=LONG_AGO, Retry_After=A_SECOND_LATER)], ids=["as a number", "as a date"]
)
def test_a_server_that_says_how_long_to_leave_it_alone_is_left_alone(serve, busy):
    server = serve(busy, GOOD)
    ask(server)
    first, second = server.times
    assert second - first >= 0.99


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry_After": "86400"},
        {"Retry_After": A_DAY_LATER, "Date": LONG_AGO},
        {"Retry_After": tomorrow},
    ],
    ids=["as a number", "as a date", "as a date without today's"],
)
def test_a_server_that_wants_to_be_left_alone_for_long_is_given_up(serve, headers):
    server = serve(told(429, b"quota", **headers))
    with pytest.raises(
        EndpointError, match=r"no answer to 1 requests, at last answers 429 'quota' and wants to be left alone for 8\d{4} s"
    ):
        ask(server, retries=9)
    assert len(server.bodies) == 1


# ---------------------------------------------------------------- what does not


@pytest.mark.parametrize(("status", "error"), [(400, EndpointError), (422, EndpointError), (401, ConfigError), (302, ConfigError)])
def test_what_will_not_pass_is_not_asked_again(serve, status, error):
    server = serve(told(status, b"no", Retry_After="0"))
    with pytest.raises(error, match=f"answers {status} 'no'") as caught:
        ask(server)
    assert len(server.bodies) == 1
    assert not getattr(caught.value, "passing", False)


def test_a_conversation_that_does_not_fit_is_not_asked_about_again(serve):
    server = serve(told(400, b"maximum context length is 10 tokens"))
    (reply,) = endpoint(server.address()).ask_all([question(usable=bool)], parallel=1)
    assert (reply.text, reply.finish, len(server.bodies)) == ("", "context", 1)


def test_the_first_failure_ends_the_others_wherever_it_stands_in_the_row(serve):
    server = serve(hang, hang, told(401, b"no key"), hang)
    with pytest.raises(ConfigError, match="answers 401"):
        ask(server, count=50, parallel=3)
    assert len(server.bodies) <= 4


# ---------------------------------------------------------------- answers of no use


def test_an_answer_of_no_use_is_asked_for_again(serve):
    server = serve(says("Perhaps."), GOOD)
    (reply,) = endpoint(server.address()).ask_all([question(usable=lambda text: text == "Yes.")], parallel=1)
    assert (reply.text, len(server.bodies)) == ("Yes.", 2)
    assert server.bodies[0] == server.bodies[1]


@pytest.mark.parametrize(
    ("later", "last"), [(says("No idea."), "No idea."), (BUSY, "Perhaps."), (told(400), "Perhaps.")], ids=["no use", "silence", "refusal"]
)
def test_the_last_answer_stands_where_none_is_of_use(serve, later, last):
    server = serve(says("Perhaps."), later)
    (reply,) = endpoint(server.address()).try_all([question(usable=lambda text: text == "Yes.")])
    assert reply.text == last


# ---------------------------------------------------------------- trying


def test_where_there_is_no_answer_the_others_still_come_and_in_order(serve):
    def by_number(handler):
        number = next(number for number in "012" if f"Number {number}" in handler.body)
        time.sleep(0.1 if number == "0" else 0.0)
        (BUSY if number == "1" else says(f"That is {number}."))(handler)

    found = endpoint(serve(by_number).address()).try_all([question(f"Number {number}") for number in range(3)])
    assert [reply and reply.text for reply in found] == ["That is 0.", None, "That is 2."]


def test_a_silent_server_is_given_up_after_eight_questions_in_a_row_whatever_the_calls(serve):
    server = serve(BUSY)
    tried = endpoint(server.address(), retries=0)
    for _ in range(5):
        assert tried.try_all([question() for _ in range(4)]) == [None] * 4
    assert len(server.bodies) == 8


@pytest.mark.parametrize("alive", [GOOD, told(400, b"no")], ids=["an answer", "a refusal"])
def test_whatever_a_server_says_shows_that_it_lives(serve, alive):
    server = serve(*[BUSY] * 7, alive, *[BUSY] * 7, GOOD)
    tried = endpoint(server.address(), retries=0)
    found = [tried.try_all([question()])[0] for _ in range(16)]
    assert found[-1].text == "Yes."


def test_no_question_is_no_request(serve):
    server = serve(GOOD)
    assert endpoint(server.address()).try_all([]) == endpoint(server.address()).ask_all([], parallel=8) == []
    assert server.bodies == []


# ---------------------------------------------------------------- interrupts


@pytest.fixture
def interruptible():
    """A process started in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def lasting():
    return {thread for thread in threading.enumerate() if not thread.daemon or isinstance(thread, threading.Timer)}


def interrupt(ended):
    """Ctrl-C as soon as all is under way, and again where a signal came in the moment before a wait, which then does not see it."""
    while not waits_for_answers():
        time.sleep(0.01)
    while waits_for_answers():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if ended.wait(1):
            return


def waits_for_answers():
    frame, callers = sys._current_frames()[threading.main_thread().ident], []
    while frame is not None:
        callers.append(frame.f_code.co_name)
        frame = frame.f_back
    return callers[0] == "wait" and "as_completed" in callers


def hang_interrupted(handler):
    interrupt(handler.server.ended)
    hang(handler)


def be_busy_interrupted(handler):
    told(503, Retry_After="250")(handler)
    handler.wfile.flush()
    interrupt(handler.server.ended)


@pytest.mark.parametrize("call", ["ask_all", "try_all"])
@pytest.mark.parametrize("manner", [hang_interrupted, be_busy_interrupted])
def test_an_interrupt_ends_all_at_once_and_leaves_no_thread_behind(serve, interruptible, call, manner):
    server = serve(hang, manner, hang)
    asked, before = [question() for _ in range(6)], lasting()
    silent = endpoint(server.address())
    with pytest.raises(KeyboardInterrupt):
        silent.ask_all(asked, parallel=3) if call == "ask_all" else silent.try_all(asked)
    assert lasting() == before


def test_an_interrupt_ends_a_handshake_that_nobody_answers(interruptible):
    with socket.create_server(("127.0.0.1", 0)) as silent:

        def receive():
            with silent.accept()[0] as connection:
                connection.recv(1)
                interrupt(ended)
                ended.wait()

        ended, receiving = threading.Event(), threading.Thread(target=receive)
        receiving.start()
        before = lasting()
        with pytest.raises(KeyboardInterrupt):
            endpoint(f"https://127.0.0.1:{silent.getsockname()[1]}/v1").ask_all([question()], parallel=1)
        assert lasting() == before
        ended.set()
        receiving.join()


# ---------------------------------------------------------------- addresses and https


@pytest.fixture
def secure(serve, tmp_path):
    """A server with a certificate, and the file that holds it."""
    file = tmp_path / "certificate.pem"
    file.write_text(CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = serve(GOOD)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server, file


def test_a_certificate_that_is_trusted_is_taken(secure, monkeypatch):
    server, file = secure
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    (reply,) = endpoint(server.address("https")).ask_all([question()], parallel=1)
    assert reply.text == "Yes."


def test_a_certificate_that_nobody_trusts_is_a_fault_of_the_configuration(secure):
    server, _ = secure
    with pytest.raises(ConfigError, match=r"the certificate of https://.* is not trusted \(self.signed certificate\); .*SSL_CERT_FILE"):
        endpoint(server.address("https")).ask_all([question()], parallel=1)
    assert server.bodies == []


def test_https_to_a_server_without_it_may_pass(serve):
    server = serve(GOOD)
    with pytest.raises(EndpointError, match="no answer to 3 requests, at last SSL") as caught:
        endpoint(server.address("https")).ask_all([question()], parallel=1)
    assert caught.value.passing


@pytest.mark.parametrize(
    ("url", "place"),
    [("http://[::1]/v1", ("::1", 80)), ("https://[::1]/v1", ("::1", 443)), ("http://h", ("h", 80)), ("https://h:8/", ("h", 8))],
)
def test_an_address_without_a_port_means_that_of_its_kind(monkeypatch, url, place):
    asked = []

    def refuse(*place, **_):
        asked.append(place)
        raise OSError("nowhere")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(EndpointError, match="nowhere"):
        endpoint(url, retries=0).ask_all([question()], parallel=1)
    assert asked == [place]
