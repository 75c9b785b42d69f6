"""Messages over a file descriptor: four bytes of length, then JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

LARGEST = 16 * 2**20
"""Bytes that one message may have."""


def send(handle: int, message: Any) -> None:
    """Write a message.

    Raises:
        ValueError: it is larger than ``LARGEST``.
        OSError: nobody reads any more.
    """
    body = json.dumps(message).encode()
    if len(body) > LARGEST:
        raise ValueError(f"a value of {len(body)} bytes is larger than the {LARGEST} that can be handed over")
    rest = memoryview(len(body).to_bytes(4, "big") + body)
    while rest:
        rest = rest[os.write(handle, rest) :]


def receive(read: Callable[[int], bytes]) -> Any:
    """The next message, by a function that reads up to so many bytes and gives none at the end.

    Raises:
        EOFError: the other side has closed.
        ValueError: what came is no message.
    """
    size = int.from_bytes(_exactly(4, read), "big")
    if size > LARGEST:
        raise ValueError(f"a message of {size} bytes is larger than {LARGEST}")
    return json.loads(_exactly(size, read))


def _exactly(size: int, read: Callable[[int], bytes]) -> bytes:
    parts, missing = [], size
    while missing:
        part = read(missing)
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
