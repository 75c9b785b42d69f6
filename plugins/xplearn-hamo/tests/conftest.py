"""A model behind the chat completions protocol, on this machine."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

OUTLINE = "1. Find a lamp\n2. Switch it on\n3. Done when it is bright"


def completion(text):
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}).encode()


class Model:
    """Answers every request with ``reply(number, request)``: a status and a body, ``HANG`` or ``DRIP``."""

    HANG, DRIP = "hang", "drip"

    def __init__(self):
        self.requests, self.headers = [], []
        self.reply = lambda number, request: (200, completion(OUTLINE))
        self.ended = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads, self._server.block_on_close = True, False
        self._server.handle_error = lambda *_: None
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies):
        """Answer with these in turn, and with the last one from then on."""
        self.reply = lambda number, request: replies[min(number, len(replies) - 1)]

    def close(self):
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(model):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with model._lock:
                    number = len(model.requests)
                    model.requests.append(request)
                    model.headers.append((self.path, dict(self.headers)))
                reply = model.reply(number, request)
                if reply == model.HANG:
                    model.ended.wait(30)
                elif reply == model.DRIP:
                    self.send_response(200)
                    self.end_headers()
                    while not model.ended.wait(0.02):
                        self.wfile.write(b" ")
                else:
                    self.send_response(reply[0])
                    self.send_header("Location", "/elsewhere")
                    self.end_headers()
                    self.wfile.write(reply[1])

            def log_message(self, *_):
                pass

        return Handler


@pytest.fixture
def model():
    model = Model()
    yield model
    model.close()
