"""Writing files so that a kill at any moment leaves the old one or the new one, and where files for keeping at hand belong."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path`` when the block ends, and not at all when it raises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under its name, complete and on disk, when the block ends."""
    temporary = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    yield temporary
    for file in temporary.rglob("*"):
        if file.is_file():
            sync(file)
    shutil.rmtree(path, ignore_errors=True)
    temporary.rename(path)
    sync(path.parent)


def link_tree(source: Path, target: Path) -> None:
    """The same files under another name, sharing their blocks where the file system can."""
    shutil.copytree(source, target, copy_function=link)


def link(source: str, target: str) -> str:
    """The same file under another name, sharing its blocks where the file system can."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def sync(path: Path) -> None:
    """Make a file's content, or the names in a folder, durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def refusal(error: OSError) -> str:
    """Why the system would not let a path be used, in words; what stands where a folder is wanted is named."""
    if isinstance(error, FileExistsError | NotADirectoryError) and error.filename is not None:
        path = Path(os.fsdecode(error.filename))
        file = next((place for place in (path, *path.parents) if place.is_file()), None)
        if file is not None:
            return f"'{file}' is a file, no folder"
    return error.strerror or str(error)


def platform_cache() -> Path:
    """The user's folder for what can be made again, as the platform has it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
