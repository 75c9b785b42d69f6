"""A folder of files with a seal: written whole or not at all, and checked before use."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xplearn.files import sync

SEAL = "origin.json"
"""Name of the seal: origin, licence, and size and SHA-256 of every other file."""


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def sealed_folder(target: Path, facts: Mapping[str, Any]) -> Iterator[Path]:
    """A temporary folder to fill, which then replaces ``target`` in one rename; an exception leaves ``target`` as it was.

    Args:
        target: the final folder; its parents are made.
        facts: JSON values for the seal (origin, licence …).
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield draft
        _seal(draft, facts)
        _swap(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_seal(folder: Path) -> dict[str, Any]:
    """The seal's content; ``{}`` when it is missing or unreadable."""
    try:
        seal = json.loads((folder / SEAL).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return seal if isinstance(seal, dict) else {}


def damage(folder: Path, *, thorough: bool = False) -> str:
    """What is wrong with a sealed folder, or the empty text.

    Args:
        folder: a folder that ``sealed_folder`` wrote.
        thorough: hash every file too; otherwise presence and sizes are compared, which takes no time.
    """
    files = read_seal(folder).get("files")
    if not isinstance(files, dict) or not files:
        return f"{SEAL} is missing or unreadable"
    for name, fact in files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != fact["bytes"]:
            return f"{name} has {path.stat().st_size} bytes, not {fact['bytes']}"
        if thorough and sha256(path) != fact["sha256"]:
            return f"{name} does not match its digest"
    return ""


def _seal(folder: Path, facts: Mapping[str, Any]) -> None:
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        path.chmod(0o644)
        sync(path)
        files[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    seal = folder / SEAL
    seal.write_text(json.dumps({**facts, "files": files}, indent=2) + "\n", encoding="utf-8")
    sync(seal)
    folder.chmod(0o755)


def _swap(draft: Path, target: Path) -> None:
    if target.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
        target.rename(old / target.name)
        draft.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        _settle(draft, target)
    sync(target.parent)


def _settle(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError:
        if damage(target):  # not another process that was faster
            raise
