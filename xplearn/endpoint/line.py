"""A connection for one request, which ends with its answer, when its time is over, or when somebody hangs up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPSConnection
from ssl import SSLContext
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_LARGEST = 1 << 20
"""Bytes of an answer that are read."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    headers: HTTPMessage


class Line:
    """Good for one request; in reach of ``hang_up`` from the first packet on."""

    def __init__(self, url: str, *, seconds: float, tls: SSLContext | None) -> None:
        """Nothing is contacted.

        Args:
            url: where to ask.
            seconds: limit from connecting to the last byte.
            tls: for an address that begins with https.
        """
        self._url, self._seconds, self._tls = urlsplit(url), seconds, tls
        self._held: socket.socket | None = None
        self._ended: OSError | None = None

    def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """What comes back.

        Raises:
            OSError: nobody was reached or nothing came in time, or somebody hung up.
            HTTPException: it is no HTTP.
        """
        with self._limited(), closing(self._connection()) as connection:
            connection.sock = self._connected(connection.host, connection.port)
            connection.request("POST", self._url.path, body, headers)
            with connection.getresponse() as response:
                return Answer(response.status, response.read(_LARGEST), response.headers)

    def hang_up(self, reason: OSError) -> None:
        """End the request, from whatever thread: whoever waits for it gets the reason."""
        self._ended = self._ended or reason
        if self._held is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._held, socket.SHUT_RDWR)

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """A timer hangs up where the socket's own limit, which is one of silence, would wait for drops."""
        alarm = threading.Timer(self._seconds, self.hang_up, [TimeoutError("timed out")])
        alarm.daemon = True
        alarm.start()
        try:
            yield
        except (OSError, HTTPException):
            if self._ended is None:
                raise
        finally:
            alarm.cancel()
            alarm.join()
            self._let_go()
        if self._ended is not None:
            raise self._ended

    def _connection(self) -> HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._tls is None:
            return HTTPConnection(host, port or HTTPConnection.default_port)
        return HTTPSConnection(host, port or HTTPSConnection.default_port, context=self._tls)

    def _connected(self, host: str, port: int) -> socket.socket:
        failed = OSError("there is no such host")
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            try:
                return self._reach(self._hold(socket.socket(family, kind, protocol)), address, host)
            except OSError as error:
                failed = error
        raise failed

    def _reach(self, line: socket.socket, address: Any, host: str) -> socket.socket:
        line.connect(address)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is None:
            return line
        secured = self._tls.wrap_socket(line, server_hostname=host, do_handshake_on_connect=False)
        self._hold(secured)
        secured.do_handshake()
        return secured

    def _hold(self, line: socket.socket) -> socket.socket:
        """Have it in reach of ``hang_up``, in the place of one that failed."""
        self._let_go()
        self._held = line
        line.settimeout(self._seconds)
        if self._ended is not None:
            raise self._ended
        return line

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.close()
