"""The cache of compiled data: found by the names, sizes and times of what it was made from, built once, then only read.

``$XPLEARN_CACHE/webshop``, else ``xplearn/webshop`` below the platform's cache folder of the user. A folder appears there under its name
when it is complete; one that is cut, changed or of an older format is built anew. Two processes that want the same data build it once.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xplearn import DataError
from xplearn.files import platform_cache, sync
from xplearn_webshop.build import FORMAT, HEADER, build, checksum
from xplearn_webshop.loading import Source, located
from xplearn_webshop.nouns import Tagger

_CHECKED = 32 << 20
"""Files up to this size are read whole to find damage; of larger ones the size is compared."""
_LARGE = 64 << 20
"""Data of more bytes are not compiled again and again into temporary folders."""
_temporary: dict[str, Path] = {}


def cache_folder() -> Path:
    """The folder of compiled data."""
    chosen = os.environ.get("XPLEARN_CACHE")
    return (located(chosen) if chosen else platform_cache() / "xplearn") / "webshop"


def key(source: Source, tagger: Tagger) -> str:
    """What compiled data are found by."""
    return hashlib.blake2b(f"{FORMAT} {source.signature} {tagger.signature}".encode(), digest_size=12).hexdigest()


def compiled(source: Source, tagger: Tagger) -> tuple[Path, dict[str, Any]]:
    """The folder of the compiled data, built if need be, and its header.

    Raises:
        DataError: the data are damaged or partial, or there is no folder to compile them into.
    """
    name = key(source, tagger)
    folder = _temporary.get(name, cache_folder() / name)
    header = _header(folder)
    if header is not None:
        return folder, header
    try:
        with _alone(folder) as alone:
            if _header(folder) is None:
                _build(source, tagger, folder, alone)
    except OSError as error:
        folder = _elsewhere(source, tagger, name, error)
    return folder, json.loads((folder / HEADER).read_bytes())


def _header(folder: Path) -> dict[str, Any] | None:
    """The header of a complete folder; None where there is none, or it is damaged or older."""
    try:
        header: dict[str, Any] = json.loads((folder / HEADER).read_bytes())
        whole = header["format"] == FORMAT and all(_is_whole(folder / name, *seal) for name, seal in header["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return header if whole else None


def _is_whole(path: Path, size: int, code: int) -> bool:
    return path.stat().st_size == size and (size > _CHECKED or checksum(path) == code)


def _build(source: Source, tagger: Tagger, folder: Path, alone: bool) -> None:
    """Build beside the folder, then take its place; what killed builds left is removed where no other can be at work."""
    for left in folder.parent.glob(f".{folder.name}.*"):
        if alone and left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        build(source, tagger, place)
        shutil.rmtree(folder, ignore_errors=True)
        place.rename(folder)
        sync(folder.parent)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Only one process at a time builds this folder, where the platform can lock files; whether it can."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("wb") as file:
        try:
            import fcntl
        except ImportError:
            yield False
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield True


def _elsewhere(source: Source, tagger: Tagger, name: str, error: OSError) -> Path:
    """A temporary folder for small data, where the cache cannot be written."""
    reason = f"the cache folder {cache_folder()} cannot be written ({error.strerror or error}); set XPLEARN_CACHE to one that can"
    if source.bytes > _LARGE:
        raise DataError(source.label, reason) from None
    sys.stderr.write(f"webshop: {reason}; compiling for this process only\n")
    try:
        folder = Path(tempfile.mkdtemp(prefix="xplearn-webshop-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        build(source, tagger, folder)
    except OSError as again:
        raise DataError(source.label, f"{reason}; nor can a temporary folder ({again.strerror or again})") from None
    _temporary[name] = folder
    return folder
