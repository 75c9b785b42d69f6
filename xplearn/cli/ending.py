"""Ending a command that goes on where it stopped: what asks it to is heard like Ctrl-C, and answered."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM, as ``kill`` and schedulers send it; a second one ends the process at once."""


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Inside, SIGTERM raises ``Terminated``, so that what is under way is noted as interrupted and somebody says so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _raise(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Terminated
