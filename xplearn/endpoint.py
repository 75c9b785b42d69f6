"""A language model behind the chat completions protocol that many servers speak: one request, bounded in time and size.

Public: the policy ``core.openai`` and plugins that ask a model of their own share this client. Standard library only.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from xplearn.errors import ConfigError, EndpointError
from xplearn.types import Finish, Message

_LARGEST_REPLY = 1 << 20
"""Bytes."""
_REFUSED = frozenset({401, 403, 404, 405, *range(300, 400)})
"""What a server answers to every request alike: asking again, or for something else, is of no use."""
_PASSING = frozenset({408, 409, 425, 429, *range(500, 600)})
_TOO_LARGE = frozenset({400, 413, 422})
_CONTEXT = re.compile(r"context[ _-](length|size|window)", re.IGNORECASE)
"""What servers say, each in its own words, where a conversation does not fit."""
_QUOTED = 200
"""Characters of a server's words in an error."""
_LONGEST_REQUEST = 3600.0
_LONGEST_WAIT = 30.0
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
    """Further requests after one that failed or whose answer was of no use, at most 100."""
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
        if not 0 <= self.backoff_seconds <= _LONGEST_WAIT:
            raise ConfigError("backoff_seconds", f"must be from 0 to {_LONGEST_WAIT:.0f} seconds, got {self.backoff_seconds}")

    def pause_seconds(self, attempt: int) -> float:
        """How long to wait before a further request, the first of them being 1."""
        return min(self.backoff_seconds * 2.0 ** (attempt - 1), _LONGEST_WAIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    """May be empty. Data: it is nobody's instruction."""
    finish: Finish
    """``length`` where it was cut off, ``context`` where the server says that the conversation does not fit: then nothing was said."""


class Endpoint:
    """Asks one server. Safe to use from several threads."""

    def __init__(self, config: EndpointConfig) -> None:
        """Read the key; nothing is contacted.

        Raises:
            ConfigError: the variable that should hold it does not.
        """
        self._config = config
        self._key = _key(config.key_env)
        self._under_way: set[socket.socket] = set()

    def ask(self, messages: Sequence[Message], settings: Mapping[str, Any], stop: threading.Event | None = None) -> Reply:
        """What the model says to a conversation.

        Args:
            messages: the conversation.
            settings: the other fields of the request, e.g. ``{"temperature": 0, "max_tokens": 64}``; JSON values.
            stop: once it is set, nothing is asked any more; set it, then ``hang_up``, to end what is under way.

        Raises:
            EndpointError: no answer in time, or none that is a chat completion.
            ConfigError: the server refuses such requests altogether. Redirections are not followed: they would carry the key away.
        """
        body = json.dumps({"model": self._config.model, "messages": list(messages), **settings})
        try:
            status, reply = self._exchange(body.encode(), stop or threading.Event())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._failure(f"{type(error).__name__}: {_one_line(str(error))}") from error
        if status == 200:
            return self._read(reply)
        said = self._quoted(reply)
        if status in _REFUSED:
            raise ConfigError("", f"{self._config.url} answers {status} {said}; check url, model and key_env")
        if status in _TOO_LARGE and _CONTEXT.search(reply.decode("utf-8", "replace")):
            return Reply(text="", finish="context")
        raise self._failure(f"answers {status} {said}", passing=status in _PASSING)

    def hang_up(self) -> None:
        """End the requests under way; whoever waits for one gets an ``EndpointError``."""
        for connected in tuple(self._under_way):
            _hang_up(connected)

    def _exchange(self, body: bytes, stop: threading.Event) -> tuple[int, bytes]:
        """Status and body of the reply. A timer hangs up where the socket's own limit, which is one of silence, would wait for drops."""
        parts = urlsplit(self._config.url)
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=self._config.timeout_seconds)
        try:
            connection.connect()
            connected = connection.sock
            alarm = threading.Timer(self._config.timeout_seconds, _hang_up, [connected])
            alarm.daemon = True
            alarm.start()
            self._under_way.add(connected)
            try:
                if stop.is_set():
                    raise ConnectionAbortedError("nobody waits for it any more")
                connection.request("POST", f"{parts.path.rstrip('/')}/chat/completions", body, self._headers())
                response = connection.getresponse()
                return response.status, response.read(_LARGEST_REPLY)
            finally:
                alarm.cancel()
                self._under_way.discard(connected)
        finally:
            connection.close()

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _read(self, reply: bytes) -> Reply:
        try:
            choice: Any = json.loads(reply)["choices"][0]
            text = choice["message"].get("content")
            finish = choice.get("finish_reason")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise self._failure(f"the reply is no chat completion ({type(error).__name__})") from error
        if not isinstance(text, str | None):
            raise self._failure("the reply is no chat completion (its content is no text)")
        return Reply(text=text or "", finish="length" if finish == "length" else "stop")

    def _failure(self, reason: str, *, passing: bool = True) -> EndpointError:
        return EndpointError(self._config.url, reason, passing=passing)

    def _quoted(self, reply: bytes) -> str:
        text = reply[: 4 * _QUOTED].decode("utf-8", "replace")
        return repr(_one_line(text.replace(self._key, "…") if self._key else text))


def _one_line(text: str) -> str:
    line = " ".join("".join(filter(str.isprintable, word)) for word in text.split())
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"


def _require_address(url: str) -> None:
    """Refuse what no request could be sent to; without repeating what may hold a key."""
    if any(mark in url for mark in "@?#"):
        raise ConfigError(
            "url", "must hold no user, password, '?' or '#'; put the key into an environment variable and that one's name into key_env"
        )
    match = _ADDRESS.fullmatch(url)
    if match is None or not 0 < int(match["port"] or 80) < 1 << 16 or not _is_ipv6(match["ipv6"] or "::"):
        wanted = "want http or https, a host, perhaps a port up to 65535, and a path without spaces, e.g. http://localhost:8000/v1"
        raise ConfigError("url", f"{_one_line(url)!r} is no web address; {wanted}")


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
        raise ConfigError("key_env", f"the environment variable {variable} is not set; export {variable}=… with the access key")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError("key_env", f"the environment variable {variable} does not hold a key: it has other than printable ASCII")
    return key


def _hang_up(connected: socket.socket) -> None:
    try:
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:
        return
