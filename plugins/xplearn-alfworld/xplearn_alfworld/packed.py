"""Games packed into a file: one JSON object a line, ``.jsonl.xz``, ``.jsonl.gz`` or ``.jsonl``."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from xplearn import DataError
from xplearn_alfworld import pddl
from xplearn_alfworld.games import TYPES, Entry, Games, ordered, plain
from xplearn_alfworld.problem import Problem

SUFFIXES = (".jsonl.xz", ".jsonl.gz", ".jsonl")
REPLACE = "copy or download the file again"

_KEYS = ("id", "type", "goal", "problem")
_DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)


class PackedFile(Games):
    """A packed file, read once and whole when first asked.

    What is kept of a game is its entry and its problem, compressed: about 7 KB, or 25 MB for the 3,554 training games, read in a second.
    """

    kind = "packed file"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._games: dict[str, tuple[Entry, bytes]] = {}
        self._digest = ""

    @property
    def digest(self) -> str:
        self._read()
        return self._digest

    def splits(self) -> tuple[str, ...]:
        return ordered({entry.split for entry in self.all()})

    def entries(self, split: str) -> Sequence[Entry]:
        return [entry for entry in self.all() if entry.split == split]

    def all(self) -> Sequence[Entry]:
        """The games of all splits, in the order of the file."""
        return [entry for entry, _ in self._read().values()]

    def find(self, id: str) -> Entry | None:
        entry, _ = self._read().get(id, (None, b""))
        return entry

    def problem(self, id: str) -> Problem:
        _, text = self._read()[id]
        return pddl.parse(zlib.decompress(text).decode(), source=f"{self.path}: {id}")

    def _read(self) -> Mapping[str, tuple[Entry, bytes]]:
        if not self._games:
            games: dict[str, tuple[Entry, bytes]] = {}
            content = hashlib.sha256()
            lines: dict[str, int] = {}
            for number, line in numbered(self.path):
                row = parsed(self.path, number, line)
                entry = _entry(self.path, number, row)
                if lines.setdefault(entry.id, number) != number:
                    raise DataError(self.path, f"line {number} repeats the id of line {lines[entry.id]}: {entry.id}; remove one")
                games[entry.id] = entry, zlib.compress(row["problem"].encode(), 1)
                content.update("\0".join((entry.id, entry.type, entry.goal, *entry.human, row["problem"], "")).encode())
            if not games:
                raise DataError(self.path, f"holds no games; {REPLACE}")
            self._games, self._digest = games, content.hexdigest()[:12]
        return self._games


class PackedFolder(Games):
    """A folder of packed files. Files that hold something other than games are left out and counted."""

    kind = "folder of packed files"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._skipped: dict[str, int] = {}
        self._files: tuple[PackedFile, ...] | None = None

    @property
    def digest(self) -> str:
        digests = sorted(file.digest for file in self._opened())
        return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()[:12]

    @property
    def skipped(self) -> Mapping[str, int]:
        return dict(self._skipped)

    def splits(self) -> tuple[str, ...]:
        return ordered({entry.split for entry in self.all()})

    def entries(self, split: str) -> Sequence[Entry]:
        return [entry for entry in self.all() if entry.split == split]

    def all(self) -> Sequence[Entry]:
        """The games of all files, file by file."""
        found: dict[str, Entry] = {}
        for file in self._opened():
            for entry in file.all():
                if found.setdefault(entry.id, entry) is not entry:
                    raise DataError(file.path, f"holds {entry.id}, which another file in its folder holds too; remove one of them")
        return list(found.values())

    def find(self, id: str) -> Entry | None:
        file = self._holding(id)
        return file.find(id) if file else None

    def problem(self, id: str) -> Problem:
        file = self._holding(id)
        assert file is not None  # noqa: S101 - the caller found it
        return file.problem(id)

    def _holding(self, id: str) -> PackedFile | None:
        likely = sorted(self._opened(), key=lambda file: not file.path.name.startswith(id.partition("/")[0]))
        return next((file for file in likely if file.find(id)), None)

    def _opened(self) -> tuple[PackedFile, ...]:
        if self._files is None:
            paths = packed(self.folder)
            games = [path for path in paths if _holds_games(path)]
            if len(games) < len(paths):
                self._skipped = {"files of something else": len(paths) - len(games)}
            if not games:
                raise DataError(self.folder, f"none of its {len(paths)} packed files holds games; they have the keys {', '.join(_KEYS)}")
            self._files = tuple(PackedFile(path) for path in games)
        return self._files


def packed(folder: Path) -> list[Path]:
    """The packed files of a folder, by name: whatever is called so, but for folders, pipes and hidden files."""
    try:
        named = [path for path in folder.iterdir() if path.name.endswith(SUFFIXES) and not path.name.startswith(".")]
        return sorted(path for path in named if path.is_file() or not path.exists())
    except OSError as error:
        raise DataError(folder, f"cannot be read ({error.strerror})") from error


def numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a packed file that are not blank, counted from 1."""
    number = 0
    try:
        with _open(path) as file:
            for line in file:
                number += 1
                if line.strip():
                    yield number, line
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.strerror:
            raise DataError(path, f"cannot be read ({error.strerror}); check the path") from error
        raise DataError(path, f"is cut off or damaged after {number} whole lines ({error}); {REPLACE}") from error


def parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """A line as a JSON object."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"line {number} is not JSON, after {number - 1} lines that are ({error}); {REPLACE}") from error
    if not isinstance(row, dict):
        raise DataError(path, f"line {number} is not a JSON object; {REPLACE}")
    return row


def _open(path: Path) -> AbstractContextManager[Iterable[bytes]]:
    if path.name.endswith(".xz"):
        return lzma.open(path)
    return gzip.open(path) if path.name.endswith(".gz") else path.open("rb")


def _holds_games(path: Path) -> bool:
    first = next(numbered(path), None)
    return first is None or {"id", "problem"} <= parsed(path, *first).keys()


def _entry(path: Path, number: int, row: Mapping[str, Any]) -> Entry:
    where = f"line {number}"
    wrong = [key for key in _KEYS if not plain(row.get(key))]
    if wrong:
        raise DataError(path, f"{where} is not a game: {' and '.join(wrong)} should be text (keys: {', '.join(row)[:200]}); {REPLACE}")
    split, slash, rest = row["id"].partition("/")
    if not (split and slash and rest):
        raise DataError(path, f"{where} has the id '{row['id'][:100]}', want <split>/<task>/<trial>")
    if row["type"] not in TYPES:
        raise DataError(path, f"{where} has the type '{row['type'][:100]}', which is none of {', '.join(TYPES)}")
    human, scene = row.get("human") or [], row.get("scene") or ""
    if not (isinstance(human, list) and all(map(plain, human)) and (scene == "" or plain(scene))):
        raise DataError(path, f"{where}: human should be a list of sentences and scene a name; {REPLACE}")
    return Entry(id=row["id"], type=row["type"], goal=row["goal"], human=tuple(human), meta={"scene": scene} if scene else {})
