"""The terminal: what it can show, and the console for results."""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console


def tolerant(*streams: TextIO) -> None:
    """Let streams of a terminal without UTF-8 show a ? for what they cannot write, instead of failing."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@cache
def console() -> Console:
    """The console for results, on standard output."""
    from rich.console import Console

    class Outlet(Console):
        """Leaves a reader that went away to the command line, where rich would end the interpreter."""

        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 - called while the error is handled

    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Outlet(highlight=False, emoji=False, width=wide)
