"""Reading a JSON file of any size one value at a time, plain or compressed."""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from xplearn import DataError

_CHUNK = 1 << 20
_LONGEST = 64 << 20
"""Characters of a single value; a longer one means that a string or a bracket never closes."""
_BLANK = " \t\r\n"
_AFTER = frozenset(f"{_BLANK},:]}}")
"""What can follow a value; anything else may be more of a number."""

_OPEN: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


def array(path: Path) -> Iterator[Any]:
    """The values of a file that holds a list.

    Raises:
        DataError: it is cut, damaged or not a list.
    """
    with _Reader(path) as reader:
        for _ in reader.items("[", "]", "a list"):
            yield reader.value()[0]


def mapping(path: Path) -> Iterator[tuple[str, str]]:
    """The names and values of a file that holds an object, each value as its JSON text.

    Raises:
        DataError: it is cut, damaged or not an object.
    """
    with _Reader(path) as reader:
        for _ in reader.items("{", "}", "an object"):
            key = reader.value()[0]
            reader.expect(":")
            yield str(key), reader.value()[1]


class _Reader:
    """A window that moves over the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text, self._at, self._before, self._ended = "", 0, 0, False
        self._decode = json.JSONDecoder().raw_decode
        try:
            self._file: IO[str] = _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8-sig")
        except OSError as error:
            raise DataError(path, f"cannot be read: {error.strerror or error}") from None

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def items(self, opening: str, closing: str, kind: str) -> Iterator[None]:
        """Stops once before every item, between the brackets."""
        if self._next() != opening:
            raise self._damaged(f"is not {kind}")
        self._at += 1
        if self._next() != closing:
            yield None
            while self._next() != closing:
                self.expect(",")
                yield None
        self._at += 1
        if self._next():
            raise self._damaged("goes on after its end")

    def expect(self, mark: str) -> None:
        """Step over a punctuation mark."""
        if self._next() != mark:
            raise self._damaged(f"has no '{mark}'")
        self._at += 1

    def value(self) -> tuple[Any, str]:
        """The next value, decoded, and its text."""
        self._next()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except RecursionError:
                raise self._damaged("nests too deeply") from None
            except ValueError:
                pass
            else:
                if self._ended or self._text[end : end + 1] in _AFTER:
                    text, self._at = self._text[self._at : end], end
                    return value, text
            if self._ended or len(self._text) - self._at > _LONGEST:
                raise self._damaged("holds something else than JSON")
            self._fill()

    def _next(self) -> str:
        """The next character that is not blank, without stepping over it; empty at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._fill()

    def _fill(self) -> None:
        """Move the window on; it doubles while one value does not fit."""
        rest = self._text[self._at :]
        try:
            more = self._file.read(max(_CHUNK, len(rest)))
        except (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError) as error:
            raise self._damaged(f"cannot be read on ({error})") from None
        self._before += self._at
        self._text, self._at, self._ended = rest + more, 0, not more

    def _damaged(self, what: str) -> DataError:
        place = f"character {self._before + self._at:,}"
        if self._ended and self._at >= len(self._text):
            what = "ends too early"
        return DataError(self._path, f"{what}, at {place}: the file is damaged or was cut; copy or download it again")
