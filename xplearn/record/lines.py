"""JSON lines that a kill may have torn at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from xplearn.errors import RecordError

T = TypeVar("T")


def read_lines(path: Path, parse: Callable[[str], T]) -> Iterator[T]:
    """Every whole line, parsed; a last line without its end is torn, or about to be written, and left out.

    Raises:
        RecordError: a whole line cannot be parsed.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            yield parsed(path, number, line, parse)


def parsed(path: Path, number: int, line: bytes, parse: Callable[[str], T]) -> T:
    """One whole line; the number, from 1, is for the message.

    Raises:
        RecordError: it cannot be parsed.
    """
    try:
        return parse(line.decode())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RecordError(path, f"line {number} is damaged ({error}); remove the run folder and start anew") from error


def mend(path: Path, keep: Callable[[Any], bool], parse: Callable[[str], Any]) -> None:
    """Cut off, on disk, a torn last line and then every last line that is not to be kept."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        data = file.read()
        end = data.rfind(b"\n") + 1
        while end:
            start = data.rfind(b"\n", 0, end - 1) + 1
            if keep(parsed(path, data.count(b"\n", 0, end), data[start:end], parse)):
                break
            end = start
        file.truncate(end)
