"""Published files, read whole or not at all: what is malformed is a ``DataError`` with the file and the line."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from xplearn import DataError
from xplearn_expbench.spec import Row

_SPLITS = {"train": "train", "dev": "dev", "val": "dev", "valid": "dev", "validation": "dev", "test": "test"}
_LONGEST_FIELD = 1 << 24


class Entry(NamedTuple):
    """One record of a file."""

    file: Path
    line: int
    """Counted from 1; in a JSON list, the place of the record."""
    fields: Mapping[str, Any]

    def bad(self, reason: str) -> DataError:
        """The error to raise about this record."""
        return bad(self.file, self.line, reason)

    def text(self, *path: str) -> str:
        """The text at a path of keys; ``DataError`` where there is none, or an empty one."""
        value = self.get(*path)
        if not isinstance(value, str) or not value.strip():
            raise self.bad(f"'{'.'.join(path)}' should be text that isn't empty, and is {_short(value)}")
        return value.strip()

    def texts(self, *path: str) -> tuple[str, ...]:
        """The list of texts at a path of keys; ``DataError`` where there is none, or an empty one."""
        value = self.get(*path)
        if not isinstance(value, list) or not value or not all(isinstance(text, str) and text.strip() for text in value):
            raise self.bad(f"'{'.'.join(path)}' should be a list of texts that aren't empty, and is {_short(value)}")
        return tuple(text.strip() for text in value)

    def get(self, *path: str) -> Any:
        """What stands at a path of keys, None where nothing does."""
        value: Any = self.fields
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value


def bad(file: Path, line: int, reason: str) -> DataError:
    """The error about a line of a file."""
    return DataError(f"{file}, line {line}", reason)


def found(path: Path, endings: Sequence[str], what: str, *, named: str = "") -> list[Path]:
    """The file that is given, or the files in a folder, sorted by name.

    Args:
        path: a file, or a folder with the files in it.
        endings: what their names may end with; ``.gz`` may follow.
        what: names the expected files, for the message.
        named: a regular expression that the names of a folder's files have to hold.

    Raises:
        DataError: there is no such path, or no such file in it.
    """
    try:
        if path.is_file():
            return [path]
        inside = sorted(path.iterdir())
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); give the file or folder of {what}") from None
    suffixes = tuple(ending + more for ending in endings for more in ("", ".gz"))
    files = [file for file in inside if file.is_file() and file.name.endswith(suffixes) and re.search(named, file.name, re.IGNORECASE)]
    if not files:
        raise DataError(path, f"holds no file of {what}, whose name ends in {' or '.join(endings)} (or .gz)")
    return files


def split(file: Path) -> str:
    """``train``, ``dev`` or ``test`` as the file's name says; empty where it doesn't."""
    words = re.split(r"[^a-z]+", file.name.lower())
    return next((_SPLITS[word] for word in words if word in _SPLITS), "")


def lines(file: Path, *, encoding: str = "utf-8", blank: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a file, unpacked where its name ends in ``.gz``, with their numbers from 1; blank ones only where wanted."""
    opened = gzip.open if file.suffix == ".gz" else open
    try:
        with opened(file, "rb") as raw:
            for number, encoded in enumerate(raw, 1):
                line = encoded.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode(encoding).rstrip("\r\n")
                if blank or line.strip():
                    yield number, line
    except UnicodeDecodeError:
        raise bad(file, number, f"is not {encoding.upper()}; get the file again") from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(file, f"cannot be read ({error}); get the file again") from None


def ends(file: Path) -> bool:
    """Whether the last line of a file has its end, without which it may be cut off."""
    opened = gzip.open if file.suffix == ".gz" else open
    last = b""
    with opened(file, "rb") as raw:
        for last in raw:  # noqa: B007 - the last one is meant
            pass
    return last.endswith(b"\n")


def jsonl(file: Path) -> Iterator[Entry]:
    """Records of a file of one JSON object a line."""
    for number, line in lines(file):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise bad(file, number, "is not JSON; the file may be cut off or another one: get it again") from None
        if not isinstance(fields, dict):
            raise bad(file, number, "is not a JSON object")
        if "\\ud" in line.lower() and not _encodes(fields):
            raise bad(file, number, "holds half a character (an escape from \\ud800 to \\udfff alone); get the file again")
        yield Entry(file, number, fields)


def _encodes(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def document(file: Path) -> Any:
    """What a JSON file holds."""
    text = "\n".join(line for _, line in lines(file, blank=True))
    try:
        return json.loads(text)
    except ValueError as error:
        where = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise bad(file, where, "is not JSON; the file may be cut off or another one: get it again") from None
    except RecursionError:
        raise bad(file, 1, "is nested too deeply") from None


def records(file: Path, listed: Any) -> Iterator[Entry]:
    """Records of a JSON list."""
    if not isinstance(listed, list) or not listed:
        raise DataError(file, "holds no list of records, or an empty one; give the file as published")
    for number, fields in enumerate(listed, 1):
        if not isinstance(fields, dict):
            raise bad(file, number, "the record is not a JSON object")
        yield Entry(file, number, fields)


def cells(file: Path, *, delimiter: str = ",", quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Rows of a table, with or without quoting, with the number of the line that each ends on."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(
        (line + "\n" for _, line in lines(file, blank=True)),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise bad(file, reader.line_num, f"is no row of a table ({error})") from None


def table(file: Path, *, delimiter: str = ",", quoted: bool = True) -> Iterator[Entry]:
    """Records of a table with a header."""
    rows = cells(file, delimiter=delimiter, quoted=quoted)
    _, header = next(rows, (0, []))
    for number, row in rows:
        if len(row) != len(header):
            raise bad(file, number, f"has {len(row)} cells where the header has {len(header)}")
        yield Entry(file, number, dict(zip(header, row, strict=True)))


def identity(split: str, *texts: str) -> str:
    """An id for a row whose source gives none: its split and 12 hexadecimal digits.

    The same for texts that differ in case and spacing only.
    """
    normal = "\n".join(" ".join(text.lower().split()) for text in texts)
    digest = hashlib.blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{split}-{digest}" if split else digest


def checked(path: Path, rows: Iterable[Row]) -> list[Row]:
    """The rows, when there are any and the ids, which come from the source, are unique."""
    listed = list(rows)
    if not listed:
        raise DataError(path, "holds no rows; get the file again")
    twice = next((id for id, count in Counter(row.id for row in listed).items() if count > 1), None)
    if twice is not None:
        raise DataError(path, f"two rows have the id '{twice}'; give one file, or a folder with each split once")
    return listed


def numbered(path: Path, rows: Iterable[Row]) -> list[Row]:
    """The rows, with ``-2``, ``-3`` … at ids, made of what is asked, that come again: some sets ask a question twice."""
    seen: Counter[str] = Counter()
    listed = []
    for row in rows:
        seen[row.id] += 1
        listed.append(row if seen[row.id] == 1 else replace(row, id=f"{row.id}-{seen[row.id]}"))
    return checked(path, listed)


def quoted(value: object) -> str:
    """A value as Python writes it, for a message."""
    return cut(repr(value))


def cut(text: str) -> str:
    """At most 100 characters of a text."""
    return text if len(text) <= 100 else text[:99] + "…"


def _short(value: object) -> str:
    return "missing" if value is None else cut(json.dumps(value, default=repr))
