"""What reaches the terminal. Text from environments and models is data: it never controls the screen."""

from __future__ import annotations

import io
import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` without control characters, bidirectional overrides and lone surrogates; newlines and tabs stay."""
    return _CONTROL.sub("�", text)


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
    return Outlet(highlight=False, width=wide)
