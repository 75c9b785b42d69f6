"""Many small JSON records in one file, found by number; every process that opens it shares its pages."""

from __future__ import annotations

import hashlib
import json
import mmap
import zlib
from array import array
from pathlib import Path
from typing import Any, Literal

import numpy as np

from xplearn import DataError

_TINY = 4096


class RecordWriter:
    """Writes ``<name>.bin`` and its offsets; feeds what it writes to a digest."""

    def __init__(self, folder: Path, name: str, digest: hashlib.blake2b) -> None:
        self._file = (folder / f"{name}.bin").open("wb")
        self._offsets_path = folder / f"{name}.offsets.npy"
        self._offsets = array("q", [0])
        self._digest = digest

    def close(self) -> None:
        """Complete both files."""
        self._file.close()
        np.save(self._offsets_path, np.array(self._offsets))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def add(self, record: Any) -> None:
        """Append one record: anything that JSON holds."""
        raw = json.dumps(record, separators=(",", ":")).encode()
        self._digest.update(raw + b"\n")
        packed = zlib.compress(raw, 1)
        self._file.write(packed)
        self._offsets.append(self._offsets[-1] + len(packed))


class Records:
    """The records of one file, read one at a time."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path = folder / f"{name}.bin"
        self._offsets = mapped(folder / f"{name}.offsets.npy")
        with self._path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self._offsets[-1] else b""

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> Any:
        try:
            return json.loads(zlib.decompress(self._bytes[self._offsets[number] : self._offsets[number + 1]]))
        except (zlib.error, ValueError) as error:
            raise DataError(self._path, f"record {number} is damaged ({error}); delete the folder {self._path.parent}") from None


def mapped(path: Path) -> np.ndarray[Any, Any]:
    """The array of an .npy file, read-only: mapped, or read where it is tiny; plain, for a memmap costs microseconds a slice."""
    mode: Literal["r"] | None = "r" if path.stat().st_size > _TINY else None
    array: np.ndarray[Any, Any] = np.load(path, mmap_mode=mode, allow_pickle=False).view(np.ndarray)
    return array
