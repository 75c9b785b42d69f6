"""A bank as lines of JSON, to carry elsewhere: a header, then an entry a line with its vectors. No pickle, and nothing is trusted."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

import numpy as np

from xplearn.errors import ContractError, DataError, RecordError
from xplearn.files import replacing
from xplearn.record.checked import checked
from xplearn.stores import codec
from xplearn.types import Experience

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xplearn.interfaces import ExperienceStore

    Vectors = NDArray[np.float32]

FORMAT = "xplearn bank 1"
"""First field of the header; another number, another format."""

LINE_BYTES = 64 * 2**20
"""A longer line is no entry of a bank."""

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True, kw_only=True)
class _Space:
    encoder: str
    dim: int
    vectors: int
    """Entries that have one."""


@dataclass(frozen=True, kw_only=True)
class _Header:
    format: str
    xplearn: str
    """Version that wrote it."""
    digest: str
    """``ExperienceStore.digest``."""
    entries: int
    spaces: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Entry:
    experience: dict[str, Any]
    vectors: dict[str, str]
    """Base64 of little-endian float32 numbers by space."""


def spaces_of(store: ExperienceStore) -> dict[str, list[str]]:
    """Ids of the entries that have a vector, by space, in the bank's order."""
    return {space: store.ids(space) for space in store.spaces()}


def export_bank(store: ExperienceStore, path: Path) -> int:
    """Write every entry and vector of a bank, atomically.

    Returns:
        How many entries there are.

    Raises:
        DataError: the file exists already.
    """
    from xplearn import __version__

    if path.exists():
        raise DataError(path, "is there already; name another file, or remove it")
    vectors = {space: dict(zip(ids, store.vectors(space, ids), strict=True)) for space, ids in spaces_of(store).items()}
    spaces = {
        space: dataclasses.asdict(_Space(encoder=encoder, dim=dim, vectors=len(vectors[space])))
        for space, (encoder, dim) in store.spaces().items()
    }
    header = _Header(format=FORMAT, xplearn=__version__, digest=store.digest(), entries=len(store), spaces=spaces)
    with replacing(path) as file:
        file.write(_line(dataclasses.asdict(header)))
        for found in store:
            here = {
                space: base64.b64encode(rows[found.id].astype("<f4").tobytes()).decode()
                for space, rows in vectors.items()
                if found.id in rows
            }
            fields = {field.name: getattr(found, field.name) for field in dataclasses.fields(Experience)}
            file.write(_line({"experience": {**fields, "meta": dict(found.meta)}, "vectors": here}))
    return header.entries


def import_bank(source: Path, path: Path, *, into: bool = False) -> tuple[int, str]:
    """Make a bank file of an exported bank, or add it to one that exists; whole or not at all.

    Returns:
        How many entries were imported, and the digest of the bank at ``path``.

    Raises:
        DataError: the source is damaged, or its entries clash with those of the bank; nothing was written.
        RecordError: ``path`` is taken, or with ``into`` is no bank.
    """
    from xplearn.stores.memory import MemoryStore

    if path.exists() and not into:
        raise RecordError(path, "is there already; name another file, or add to it with --into")
    if into and not path.is_file():
        raise RecordError(path, "there is no bank to add to; leave --into out to make one")
    with closing(MemoryStore()) as imported, closing(MemoryStore()) as whole:
        read_bank(source, imported)
        if not into:
            imported.snapshot(str(path))
            return len(imported), imported.digest()
        whole.restore(str(path))
        before = whole.digest()
        _join(imported, whole, source)
        _replace(path, before, whole)
        return len(imported), whole.digest()


def read_bank(path: Path, store: ExperienceStore) -> None:
    """Add every entry of an exported bank to an empty store, and prove that it is the bank that was exported.

    Raises:
        DataError: the file is missing, damaged, cut off or of another format; the line is named. The store is then of no use.
    """
    try:
        with path.open("rb") as file:
            _Reader(path, file).fill(store)
    except OSError as error:
        raise DataError(path, f"cannot be read ({error.strerror}); make it with: xplearn bank export RUN {path.name}") from None


def _join(imported: ExperienceStore, whole: ExperienceStore, source: Path) -> None:
    """Add one bank's entries to another's."""
    clash = next((found.id for found in imported if found.id in whole), None)
    if clash is not None:
        raise DataError(source, f"its entry {clash!r} is in the bank already; import it into a file of its own, without --into")
    with_vector = {space: set(ids) for space, ids in spaces_of(imported).items()}
    try:
        for space, (encoder, dim) in imported.spaces().items():
            whole.open_space(space, encoder=encoder, dim=dim)
        for names, batch in groupby(imported, key=lambda found: tuple(name for name, ids in with_vector.items() if found.id in ids)):
            entries = list(batch)
            whole.add(entries, {name: imported.vectors(name, [found.id for found in entries]) for name in names})
    except ContractError as error:
        raise DataError(source, f"does not fit the bank ({error}); import it into a file of its own, without --into") from None


def _replace(path: Path, before: str, whole: ExperienceStore) -> None:
    """Put a bank in the place of the one in a file, in one transaction, unless somebody wrote to that meanwhile."""
    from xplearn.stores.sqlite import SqliteStore

    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(path=str(path))) as store:
        whole.snapshot(f"{folder}/bank")
        if store.digest() != before:
            raise RecordError(path, "another process wrote to this bank meanwhile; wait for it, and import again")
        store.restore(f"{folder}/bank")


class _Reader:
    """Reads one file, and knows at which line it is."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self._file, self._number = path, file, 0
        self._ids: set[str] = set()

    def fill(self, store: ExperienceStore) -> None:
        header = self._header()
        spaces = {name: self._checked(_Space, raw) for name, raw in header.spaces.items()}
        counts = dict.fromkeys(spaces, 0)
        try:
            for name, space in spaces.items():
                store.open_space(name, encoder=space.encoder, dim=space.dim)
            for names, batch in groupby(self._entries(spaces), key=lambda entry: tuple(entry[1])):
                entries = list(batch)
                store.add([entry for entry, _ in entries], {name: np.stack([rows[name] for _, rows in entries]) for name in names})
                counts.update({name: counts[name] + len(entries) for name in names})
        except ContractError as error:
            self._damaged(str(error))
        self._number = 1
        self._require("entries", header.entries, len(store))
        for name, space in spaces.items():
            self._require(f"vectors of space '{name}'", space.vectors, counts[name])
        self._require("digest", header.digest, store.digest())

    def _header(self) -> _Header:
        raw = self._next()
        if not isinstance(raw, dict) or raw.get("format") != FORMAT:
            raise DataError(
                self._path, f"is no exported bank of a format known here ('{FORMAT}'); make one with: xplearn bank export RUN OUT"
            )
        header: _Header = self._checked(_Header, raw)
        return header

    def _entries(self, spaces: Mapping[str, _Space]) -> Iterator[tuple[Experience, dict[str, Vectors]]]:
        while (raw := self._next()) is not None:
            entry = self._checked(_Entry, raw)
            found = self._checked(Experience, entry.experience)
            if found.id in self._ids:
                self._damaged(f"the id {found.id!r} is there twice")
            self._ids.add(found.id)
            yield (
                dataclasses.replace(found, created=tuple(found.created)),
                {name: self._vector(spaces, name, data) for name, data in entry.vectors.items()},
            )

    def _vector(self, spaces: Mapping[str, _Space], name: str, data: str) -> Vectors:
        if name not in spaces:
            self._damaged(f"there is no space {name!r} (the header has: {', '.join(map(repr, spaces)) or 'none'})")
        try:
            raw = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            self._damaged(f"the vector of space '{name}' is no base64 ({error})")
        if len(raw) != 4 * spaces[name].dim:
            self._damaged(f"the vector of space '{name}' has {len(raw) / 4:g} numbers, not {spaces[name].dim}")
        row = np.frombuffer(raw, dtype="<f4")
        codec.matrix(row[None], rows=1, dim=spaces[name].dim, what="the numbers", component=name)
        return row

    def _next(self) -> Any:
        """The next line's value; None after the last line."""
        self._number += 1
        line = self._file.readline(LINE_BYTES)
        if not line:
            return None
        if not line.endswith(b"\n"):
            self._damaged(f"it is longer than {LINE_BYTES} bytes" if len(line) == LINE_BYTES else "it is cut off")
        try:
            return json.loads(line, parse_constant=self._refuse_constant)
        except (ValueError, RecursionError) as error:
            self._damaged(str(error))

    def _checked(self, cls: type[Any], raw: object) -> Any:
        try:
            return checked(cls, raw)
        except (ValueError, OverflowError, RecursionError) as error:
            self._damaged(str(error))

    def _refuse_constant(self, word: str) -> NoReturn:
        raise ValueError(f"{word} is no finite number")

    def _require(self, what: str, said: object, found: object) -> None:
        if said != found:
            self._damaged(f"it says {what}: {said}, and the file holds {found}")

    def _damaged(self, reason: str) -> NoReturn:
        raise DataError(
            self._path, f"line {self._number} is damaged ({reason}); nothing was imported, export the bank again: xplearn bank export"
        )


def _line(value: Mapping[str, Any]) -> bytes:
    return _encode(value).encode() + b"\n"
