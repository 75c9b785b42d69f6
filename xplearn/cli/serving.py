"""``xplearn play --html``: serves an episode to a browser on this machine, and to nobody else."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from xplearn.cli.browser import Episode, escaped
from xplearn.errors import DataError, XplearnError

HOST = "127.0.0.1"
POLL_SECONDS = 0.05
"""How soon a stop is noticed."""
LARGEST_POST = 1_000_000
"""Bytes of a form that are read at most."""

PATIENCE_SECONDS = 30
"""How long a browser may fall silent in the middle of a request."""

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


class Server:
    """Serves an episode until it is stopped. The environment is only ever touched by the thread that called ``serve``."""

    def __init__(self, episode: Episode, *, port: int = 0) -> None:
        """Bind to loopback; port 0 takes a free one. A port that cannot be had raises ``DataError``."""
        self.episode = episode
        self._jobs: queue.SimpleQueue[tuple[Callable[[], str], Future[str]] | None] = queue.SimpleQueue()
        try:
            self._http = QuietServer((HOST, port), type("Bound", (Handler,), {"owner": self}))
        except (OSError, OverflowError) as error:
            raise DataError(f"port {port}", f"cannot be served on ({error}); leave out --port for a free one") from error

    @property
    def address(self) -> str:
        """Where the page is, without the closing slash."""
        return f"http://{HOST}:{self._http.server_address[1]}"

    @property
    def addresses(self) -> tuple[str, ...]:
        """What browsers on this machine may call it."""
        return self.address, self.address.replace(HOST, "localhost")

    def serve(self) -> None:
        """Answer requests until ``stop``, or until interrupted."""
        threading.Thread(target=self._http.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
        try:
            for job, answer in iter(self._jobs.get, None):
                try:
                    answer.set_result(job())
                except XplearnError as error:
                    answer.set_exception(error)
        finally:
            self._http.shutdown()
            self._http.server_close()

    def stop(self) -> None:
        """Let ``serve`` return; may be called from any thread."""
        self._jobs.put(None)

    def ask(self, job: Callable[[], str]) -> str:
        """Have the serving thread do something, and wait for it."""
        answer: Future[str] = Future()
        self._jobs.put((job, answer))
        return answer.result()


class QuietServer(ThreadingHTTPServer):
    """A thread for each request; of browsers that went away or fell silent nothing is said."""

    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Show what went wrong here, and only that."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as it came


class Handler(BaseHTTPRequestHandler):
    """Three addresses: the page, an action, a fresh start."""

    owner: Server
    timeout = PATIENCE_SECONDS

    def do_GET(self) -> None:
        """Show the page."""
        if self._accepted({"/"}):
            self._answer(self.owner.episode.page)

    def do_POST(self) -> None:
        """Act or start over, then show the page."""
        if self._accepted({"/act", "/reset"}):
            action = action_of(self._form())
            episode = self.owner.episode
            self._answer(episode.reset if self.path == "/reset" else lambda: episode.act(action), then="/")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is for the address alone."""

    def _accepted(self, paths: set[str]) -> bool:
        # A page elsewhere must not act here, whether by a form or by a name that resolves to this machine.
        here = f"http://{self.headers['Host']}"
        if here not in self.owner.addresses or self.headers.get("Origin", here) != here:
            self.send_error(HTTPStatus.FORBIDDEN, explain=f"The page is at {self.owner.address}/ and is used from there alone.")
            return False
        if self.path not in paths:
            self.send_error(HTTPStatus.NOT_FOUND)
            return False
        return True

    def _form(self) -> Mapping[str, list[str]]:
        length = self.headers.get("Content-Length", "0")
        size = min(int(length[:20]), LARGEST_POST) if length.isascii() and length.isdigit() else 0
        raw = self.rfile.read(size)
        if len(raw) < size:
            raise ConnectionError("half a form is no form")
        return parse_qs(raw.decode("utf-8", "replace"), keep_blank_values=True)

    def _answer(self, work: Callable[[], str | None], then: str = "") -> None:
        try:
            body, status = self.owner.ask(lambda: work() or ""), HTTPStatus.SEE_OTHER if then else HTTPStatus.OK
        except XplearnError as error:
            body, status, then = f"<!doctype html><pre>{escaped(str(error))}</pre>", HTTPStatus.INTERNAL_SERVER_ERROR, ""
        content = body.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if then:
            self.send_header("Location", then)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def action_of(form: Mapping[str, list[str]]) -> str:
    """The action that a form posted: as it stands, or a text set into a template."""
    if "template" in form:
        return form["template"][0].replace("%s", form.get("text", [""])[0], 1)
    return form.get("action", [""])[0]
