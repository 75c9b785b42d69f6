"""Where a model is asked, and how patiently."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass

from xplearn.errors import ConfigError

_LONGEST_REQUEST = 3600.0
_LONGEST_WAIT = 30.0
_MOST_RETRIES = 100
_ADDRESS = re.compile(
    r"https?://(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[(?P<ipv6>[0-9a-f:.]+)\])(?::(?P<port>\d{1,5}))?(?:/[a-z0-9._~!$&'()*+,;=:%/-]*)?",
    re.IGNORECASE | re.ASCII,
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_QUOTED = 200
"""Characters of another's words in an error."""


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
    """Wait before the first of them; doubled each time, at most half a minute, longer where the server asks for it (``Retry-After``)."""

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


def key(variable: str) -> str:
    """The access key that an environment variable holds; empty where none is named.

    Raises:
        ConfigError: it holds none; the message does not repeat what it does hold.
    """
    if not variable:
        return ""
    found = os.environ.get(variable, "").strip()
    if not found:
        raise ConfigError("key_env", f"the environment variable {variable} is not set; export {variable}=… with the access key")
    if not (found.isascii() and found.isprintable()):
        raise ConfigError("key_env", f"the environment variable {variable} does not hold a key: it has other than printable ASCII")
    return found


def one_line(text: str) -> str:
    """Another's words as one printable line, cut where they are long."""
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
        raise ConfigError("url", f"{one_line(url)!r} is no web address; {wanted}")


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True
