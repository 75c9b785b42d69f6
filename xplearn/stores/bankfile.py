"""The file of a bank: an SQLite database with our mark in its header.

Format 1. ``bank``: one row, the number of writes. ``experience``: one row each, ``seq`` gives the order, ``body`` is the line of
``codec.encode``. ``space``: encoder and dimension by name. ``vector_<n>``: the float32 little-endian rows of space ``n``.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from xplearn.errors import RecordError
from xplearn.files import sync
from xplearn.stores import codec
from xplearn.stores.soundness import find_damage, find_garbled_row

FORMAT = 1
"""``user_version`` of the files written here."""
MARK = int.from_bytes(b"xplb", "big")
"""``application_id``."""
_PAGE_BYTES = 8192

_SCHEMA = """
CREATE TABLE bank (version INTEGER NOT NULL);
INSERT INTO bank VALUES (0);
CREATE TABLE experience (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX experience_task ON experience (task);
CREATE TABLE space (n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, encoder TEXT NOT NULL, dim INTEGER NOT NULL);
"""


def in_memory() -> sqlite3.Connection:
    """A bank that is gone when closed."""
    return _create(":memory:")


def connect(path: Path) -> sqlite3.Connection:
    """Open the bank at ``path``, creating it where there is none.

    A commit survives the death of the process at any moment. A power cut may lose the last commits, never the file.

    Raises:
        RecordError: no bank, a newer or a damaged one, or one that may not be written; the file is left as it is.
    """
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.stat().st_size == 0:
            _create_file(path)
        check(path)
        db = sqlite3.connect(path, timeout=30.0, isolation_level=None)
        try:
            _refuse(find_damage(db), path)
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            db.close()
            raise
        return db


def check(path: Path) -> None:
    """Raise ``RecordError`` unless ``path`` is a bank of a format known here. Reads the file's first bytes, opens nothing."""
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise RecordError(path, "is not a bank; name another file, or move this one away")
    if int.from_bytes(header[68:72], "big") != MARK:
        raise RecordError(path, "is an SQLite file but not a bank; name another file")
    version = int.from_bytes(header[60:64], "big")
    if version != FORMAT:
        raise RecordError(path, f"has bank format {version}, this xplearn reads {FORMAT}; type: pip install --upgrade xplearn")


def peek(path: Path) -> tuple[int, dict[str, str]]:
    """Number of experiences in the bank at ``path``, and encoder ids by space; raises as ``connect``."""
    with translated(path):
        check(path)
        with closing(_reading(path)) as db:
            _refuse(find_garbled_row(db), path)
            count = db.execute("SELECT count(*) FROM experience").fetchone()[0]
            spaces = db.execute("SELECT name, encoder FROM space ORDER BY n")
            return count, {codec.original(name): codec.original(encoder) for name, encoder in spaces}


def _reading(path: Path) -> sqlite3.Connection:
    """A connection that leaves no file behind: where nobody has the bank open, SQLite would put its own beside it even to read."""
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{alone}", uri=True)


def save_copy(db: sqlite3.Connection, path: Path) -> None:
    """Write the committed content of ``db`` to one compact file, atomically."""
    with replacing(path) as temporary:
        db.execute("VACUUM INTO ?", (str(temporary),))


def load_copy(path: Path, db: sqlite3.Connection) -> None:
    """Replace the content of ``db`` by that of the file ``path``, all or none.

    Raises:
        RecordError: as ``connect``; ``db`` is left as it is.
    """
    with translated(path):
        if not path.is_file():
            raise RecordError(path, "there is no snapshot here")
        check(path)
        with closing(_reading(path)) as source:
            _refuse(find_damage(source), path)
            source.backup(db)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary neighbour to write; flushed to the disk and moved to ``path`` when the block succeeds, removed when not."""
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.unlink(missing_ok=True)
        try:
            yield temporary
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def translated(path: object) -> Iterator[None]:
    """Turn what SQLite and the file system say into a ``RecordError`` with the next thing to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except OSError as error:
        raise RecordError(path, f"cannot be used: {error.strerror or error}") from error


def explained(error: sqlite3.Error, path: object) -> RecordError:
    """What SQLite says, with the next thing to do."""
    return RecordError(path, f"{error}; {_advice(error)}")


def _advice(error: sqlite3.Error) -> str:
    text = str(error)
    if isinstance(error, sqlite3.ProgrammingError):
        return "use a bank in the thread that opened it"
    if "locked" in text or "busy" in text:
        return "another process is writing this bank: wait for it, or end it"
    if "full" in text:
        return "free some space; nothing was written"
    if "readonly" in text or "unable to open" in text:
        return "make file and folder writable, or name another path"
    return "the bank is damaged: restore a snapshot of it, or move the file away"


def _create_file(path: Path) -> None:
    for orphan in (f"{path}-wal", f"{path}-shm", f"{path}-journal"):  # SQLite would replay them into the new file
        Path(orphan).unlink(missing_ok=True)
    with replacing(path) as temporary:
        _create(str(temporary)).close()


def _create(where: str) -> sqlite3.Connection:
    db = sqlite3.connect(where, isolation_level=None)
    for name, value in (("page_size", _PAGE_BYTES), ("application_id", MARK), ("user_version", FORMAT)):
        db.execute(f"PRAGMA {name} = {value}")
    db.executescript(_SCHEMA)
    return db


def damaged(where: object, what: str) -> RecordError:
    """The error that says so, with the next thing to do."""
    return RecordError(where, f"the bank is damaged ({what}); restore a snapshot of it, or move the file away")


def _refuse(damage: str, path: Path) -> None:
    if damage:
        raise damaged(path, damage)
