"""The folder that holds shared work, found by what went into it.

Several processes may read and write it at once. What is damaged counts as absent, and what cannot be written is left out: a run never
fails for its sake.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_STALE_SECONDS = 86_400
"""What a killed process left half-written is removed after a day."""

_FAST = 1
"""Level of compression: a quarter of the size in a quarter of a millisecond; higher ones save little more."""

_CONTENTS = "contents.json"
"""Digest of every other file of a stored folder."""


class Shared:
    """Work that any number of runs share, at the same time if they like.

    Args:
        folder: where it is kept; made when something is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._drafts = folder / "drafts"
        for stale in self._drafts.glob("*"):
            _remove_stale(stale)

    def text(self, kind: str, key: str) -> str | None:
        """The text under a key (``key_of``); None where there is none."""
        try:
            digest, _, packed = self._at(kind, key).read_bytes().partition(b"\n")
            return zlib.decompress(packed).decode() if digest == _digest(packed) else None
        except (OSError, zlib.error):
            return None

    def put_text(self, kind: str, key: str, text: str) -> None:
        """Keep a text."""
        with contextlib.suppress(OSError), self._placing(self._at(kind, key)) as draft:
            packed = zlib.compress(text.encode(), _FAST)
            draft.write_bytes(_digest(packed) + b"\n" + packed)

    def find_folder(self, kind: str, key: str, variant: str) -> Path | None:
        """The folder under a key, whole; None where there is none. Its files are not to be written to."""
        path = self._at(kind, key) / variant
        if not path.exists():
            return None
        if _whole(path):
            return path
        self._discard(path)
        return None

    def put_folder(self, kind: str, key: str, variant: str, fill: Callable[[Path], None]) -> None:
        """Keep a folder, unless that variant is there already.

        Args:
            kind: of work.
            key: what folders are looked up by.
            variant: tells those of one key apart.
            fill: writes the files.
        """
        target = self._at(kind, key) / variant
        if target.exists():
            return
        with contextlib.suppress(OSError), self._placing(target) as draft:
            draft.mkdir()
            fill(draft)
            (draft / _CONTENTS).write_text(json.dumps(digests(draft)), encoding="utf-8")

    @contextlib.contextmanager
    def claim(self, key: str, wait: Callable[[], None]) -> Iterator[None]:
        """A context that one process at a time is in for a key; ``wait`` is told where another one is. One claim at a time."""
        path = self.folder / "claims" / key[:2]
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # where nothing can be locked, work may be done twice
                path.parent.mkdir(parents=True, exist_ok=True)
                lock = stack.enter_context(path.open("ab"))
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    wait()
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _at(self, kind: str, key: str) -> Path:
        return self.folder / kind / key[:2] / key[2:]

    @contextlib.contextmanager
    def _placing(self, target: Path) -> Iterator[Path]:
        """A path of this process's own, which takes the place of ``target`` when the block ends."""
        draft = self._drafts / uuid.uuid4().hex
        for parent in (self._drafts, target.parent):
            parent.mkdir(parents=True, exist_ok=True)
        try:
            yield draft
            draft.replace(target)
        except BaseException:
            _remove(draft)
            raise

    def _discard(self, path: Path) -> None:
        """Take a damaged folder out of the way in one step, then delete it."""
        draft = self._drafts / uuid.uuid4().hex
        with contextlib.suppress(OSError):
            self._drafts.mkdir(parents=True, exist_ok=True)
            path.rename(draft)
        _remove(draft)


def key_of(what: Any) -> str:
    """The key of work by what determines it.

    Args:
        what: JSON values.
    """
    return hashlib.sha256(json.dumps(what, sort_keys=True, separators=(",", ":"), default=str).encode()).hexdigest()


def _digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).hexdigest().encode()


def digests(folder: Path) -> dict[str, str]:
    """Digest of every file of a folder by its path in it, the list of a stored folder's own digests aside."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / _CONTENTS)
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in paths}


def file_digest(path: str | Path) -> str:
    """Digest of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _whole(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / _CONTENTS).read_text(encoding="utf-8")) == digests(folder))
    except (OSError, ValueError):
        return False


def _remove_stale(path: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _STALE_SECONDS:
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)
