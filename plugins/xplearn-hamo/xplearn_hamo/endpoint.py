"""A language model behind the chat completions protocol that many servers speak: one request, bounded in time and size."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from xplearn import ConfigError, Message
from xplearn_hamo.account import one_line

_LARGEST_REPLY = 1 << 20
"""Bytes."""
_REFUSED = frozenset({401, 403, 404, 405, *range(300, 400)})
"""What a server answers to every request alike: asking again, or for another card, is of no use."""
_PASSING = frozenset({408, 409, 425, 429, *range(500, 600)})
_QUOTED = 200
"""Characters of a server's words in an error."""
_LONGEST_REQUEST = 3600.0
LONGEST_WAIT = 30.0
"""Seconds between two requests for a card."""
_MOST_RETRIES = 100
_ADDRESS = re.compile(
    r"https?://(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[(?P<ipv6>[0-9a-f:.]+)\])(?::(?P<port>\d{1,5}))?(?:/[a-z0-9._~!$&'()*+,;=:%/-]*)?",
    re.IGNORECASE | re.ASCII,
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(kw_only=True)
class EndpointConfig:
    """Where to ask, and how patiently."""

    url: str
    """Base address, e.g. ``http://localhost:8000/v1``; requests go to ``<url>/chat/completions``, past any proxy. It holds no key."""
    model: str
    """The model's name there."""
    key_env: str = ""
    """Environment variable that holds the access key; empty to send none."""
    timeout_seconds: float = 60.0
    """Limit of one request from connecting to the last byte, at most an hour."""
    retries: int = 2
    """Further requests for a card after one that failed or gave no usable outline, at most 100."""
    backoff_seconds: float = 1.0
    """Wait before the first of them; doubled each time, at most half a minute."""

    def __post_init__(self) -> None:
        _require_address(self.url)
        if not self.model.strip():
            raise ConfigError("model", "name the model that answers there")
        if self.key_env and not _VARIABLE.fullmatch(self.key_env):
            raise ConfigError("key_env", "is no name of an environment variable; want that of the one that holds the key, e.g. API_KEY")
        if not 0 < self.timeout_seconds <= _LONGEST_REQUEST:
            raise ConfigError("timeout_seconds", f"must be above 0 and at most {_LONGEST_REQUEST:.0f} seconds, got {self.timeout_seconds}")
        if not 0 <= self.retries <= _MOST_RETRIES:
            raise ConfigError("retries", f"must be from 0 to {_MOST_RETRIES}, got {self.retries}")
        if not 0 <= self.backoff_seconds <= LONGEST_WAIT:
            raise ConfigError("backoff_seconds", f"must be from 0 to {LONGEST_WAIT:.0f} seconds, got {self.backoff_seconds}")


class NoAnswerError(Exception):
    """A request that brought no text. ``passing`` says whether another try may."""

    def __init__(self, reason: str, *, passing: bool = True) -> None:
        self.passing = passing
        super().__init__(reason)


class Endpoint:
    """Asks one server. Safe to use from several threads."""

    def __init__(self, config: EndpointConfig) -> None:
        """Read the key.

        Raises:
            ConfigError: the variable that should hold it does not.
        """
        self._config = config
        self._key = _key(config.key_env)

    def ask(self, messages: Sequence[Message], max_tokens: int) -> str:
        """What the model says, drawn at temperature 0.

        Raises:
            NoAnswerError: no answer in time, or none that holds text.
            ConfigError: the server refuses such requests altogether.
        """
        wanted = {"model": self._config.model, "messages": list(messages), "temperature": 0, "max_tokens": max_tokens}
        try:
            status, reply = self._exchange(json.dumps(wanted).encode())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswerError(f"{type(error).__name__}: {error}") from error
        if status in _REFUSED:
            raise ConfigError("endpoint", f"{self._config.url} answers {status} {self._quoted(reply)}; check url, model and key_env")
        if status != 200:
            raise NoAnswerError(f"status {status}", passing=status in _PASSING)
        return _content(reply)

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        """Status and body of the reply. A timer hangs up where the socket's own limit, which is one of silence, would wait for drops."""
        parts = urlsplit(self._config.url)
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=self._config.timeout_seconds)
        try:
            connection.connect()
            alarm = threading.Timer(self._config.timeout_seconds, _hang_up, [connection.sock])
            alarm.daemon = True
            alarm.start()
            try:
                connection.request("POST", f"{parts.path.rstrip('/')}/chat/completions", body, self._headers())
                response = connection.getresponse()
                return response.status, response.read(_LARGEST_REPLY)
            finally:
                alarm.cancel()
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _quoted(self, reply: bytes) -> str:
        text = reply[: 4 * _QUOTED].decode("utf-8", "replace")
        return repr(one_line(text.replace(self._key, "…") if self._key else text, _QUOTED))


def _require_address(url: str) -> None:
    """Refuse what no request could be sent to; without repeating what may hold a key."""
    if any(mark in url for mark in "@?#"):
        raise ConfigError(
            "url", "must hold no user, password, '?' or '#'; put the key into an environment variable and that one's name into key_env"
        )
    match = _ADDRESS.fullmatch(url)
    if match is None or not 0 < int(match["port"] or 80) < 1 << 16 or not _is_ipv6(match["ipv6"] or "::"):
        wanted = "want http or https, a host, perhaps a port up to 65535, and a path without spaces, e.g. http://localhost:8000/v1"
        raise ConfigError("url", f"{one_line(url, _QUOTED)!r} is no web address; {wanted}")


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _key(variable: str) -> str:
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError("endpoint.key_env", f"the environment variable {variable} is not set; export {variable}=… with the access key")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("endpoint.key_env", f"the environment variable {variable} does not hold a key: it has other than printable ASCII")
    return key


def _hang_up(connected: socket.socket) -> None:
    try:
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return


def _content(reply: bytes) -> str:
    try:
        parsed: Any = json.loads(reply)
        text = parsed["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise NoAnswerError(f"the reply is no chat completion ({type(error).__name__})") from error
    if not isinstance(text, str) or not text.strip():
        raise NoAnswerError("the reply holds no text")
    return text
