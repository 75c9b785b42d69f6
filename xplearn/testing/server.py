"""A server on this machine that speaks the chat completions protocol, well or badly, as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Answer = tuple[int, bytes] | str
"""Status and body, or ``ChatServer.HANG`` or ``ChatServer.DRIP``."""


def completion(text: str | None, finish: str = "stop") -> Answer:
    """The answer of a model that says this."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return 200, json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


class ChatServer:
    """Answers every request with ``reply(number, request)``, from the moment it is made until ``close``; a context manager too."""

    HANG, DRIP = "hang", "drip"

    def __init__(self, reply: Callable[[int, Any], Answer]) -> None:
        """Start it."""
        self.reply = reply
        self.requests: list[Any] = []
        """Bodies, in the order of their arrival."""
        self.headers: list[tuple[str, dict[str, str]]] = []
        """Path and headers of each."""
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads, self._server.block_on_close = True, False
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign] # clients that hang up are part of the tests
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def __enter__(self) -> ChatServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Base address, as a configuration says it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies: Answer) -> None:
        """Answer with these in turn, and with the last one from then on."""
        self.reply = lambda number, _: replies[min(number, len(replies) - 1)]

    def close(self) -> None:
        """End it. May be called twice."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Serve one request."""
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
            self.headers.append((handler.path, dict(handler.headers)))
        reply = self.reply(number, request)
        if reply == self.HANG:
            self._ended.wait(30)
        elif isinstance(reply, str):
            handler.send_response(200)
            handler.end_headers()
            while not self._ended.wait(0.02):
                handler.wfile.write(b" ")
        else:
            handler.send_response(reply[0])
            handler.send_header("Location", "/elsewhere")
            handler.end_headers()
            handler.wfile.write(reply[1])


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            server.answer(self)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
