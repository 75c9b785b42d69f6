"""Waiting for what a thread or a process does: for the event, with a deadline that only a machine at a standstill misses."""

from __future__ import annotations

import time
from collections.abc import Callable

GENEROUS_SECONDS = 120.0


def wait_for(condition: Callable[[], object], *, or_until: Callable[[], object] = lambda: False) -> bool:
    """Whether the condition came true, before the other did and before the deadline."""
    ends = time.monotonic() + GENEROUS_SECONDS
    while not condition():
        if or_until() or time.monotonic() > ends:
            return bool(condition())
        time.sleep(0.005)
    return True
