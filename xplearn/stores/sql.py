"""The bank over an SQLite connection: what ``core.memory`` and ``core.sqlite`` share."""

from __future__ import annotations

import dataclasses
import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xplearn.errors import ContractError, RecordError
from xplearn.interfaces import ExperienceStore
from xplearn.stores import bankfile, codec
from xplearn.stores.space import Space
from xplearn.types import Experience

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xplearn.interfaces import AgentView

    Vectors = NDArray[np.float32]
    Follow = Callable[[str, Space], None]

_CHUNK = 2048
"""Rows read at once."""


class SqlStore(ExperienceStore):
    """Everything is in the database. Indices and digest are kept beside it with the version they belong to."""

    def __post_init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._freezes = 0
        self._indices: dict[str, Space] = {}
        self._indexed = -1
        self._hashed = (-1, "")

    @abstractmethod
    def _connect(self) -> sqlite3.Connection:
        """Open the database."""

    @property
    @abstractmethod
    def _where(self) -> str:
        """The database, for messages."""

    def setup(self, agent: AgentView) -> None:
        self._db()

    def close(self) -> None:
        self._closed = True
        self._indices.clear()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def add(self, experiences: Sequence[Experience], vectors: Mapping[str, Vectors] | None = None) -> None:
        ids = [experience.id for experience in experiences]
        rows = [
            (codec.plain(e.id), codec.plain(e.task), body) for e, body in zip(experiences, map(self._encoded, experiences), strict=True)
        ]
        arrays = {name: self._checked(name, array, len(ids)) for name, array in (vectors or {}).items()}

        def follow(name: str, index: Space) -> None:
            if name in arrays:
                index.add(ids, arrays[name])

        with self._writing(follow) as db:
            self._refuse_known(ids)
            first = int(db.execute("SELECT coalesce(max(seq), 0) + 1 FROM experience").fetchone()[0])
            db.executemany("INSERT INTO experience VALUES (?, ?, ?, ?)", ((first + i, *row) for i, row in enumerate(rows)))
            for name, array in arrays.items():
                blobs = ((first + i, row.data) for i, row in enumerate(array.astype("<f4", copy=False)))
                db.executemany(f"INSERT INTO {self._table(name)} VALUES (?, ?)", blobs)  # noqa: S608 - a name of ours

    def remove(self, ids: Sequence[str]) -> None:
        with self._writing(lambda _, index: index.remove(ids)) as db:
            seqs = [(self._row("seq", id),) for id in dict.fromkeys(ids)]
            for name in self.spaces():
                db.executemany(f"DELETE FROM {self._table(name)} WHERE seq = ?", seqs)  # noqa: S608
            db.executemany("DELETE FROM experience WHERE seq = ?", seqs)

    def update(self, id: str, **changes: Any) -> None:
        self.update_many({id: changes})

    def update_many(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        if not changes:
            return
        for fields in changes.values():
            codec.check_changes(fields, type(self).__name__)
        with self._writing(_nothing) as db:
            changed = [dataclasses.replace(held, **changes[held.id]) for held in self.get(list(changes))]
            rows = [(codec.plain(found.task), self._encoded(found), codec.plain(id)) for id, found in zip(changes, changed, strict=True)]
            db.executemany("UPDATE experience SET task = ?, body = ? WHERE id = ?", rows)

    def open_space(self, space: str, *, encoder: str, dim: int) -> None:
        known = self.spaces().get(space)
        if known is not None and known != (encoder, dim):
            raise self._broken(
                f"space '{space}' of {self._where} holds vectors of encoder '{known[0]}' with dimension {known[1]}, "
                f"not of '{encoder}' with dimension {dim}; configure that encoder, or use another bank"
            )
        if known is not None:
            return
        if dim < 1:
            raise self._broken(f"space '{space}' needs a dimension of at least 1, got {dim}")
        with self._writing(_nothing) as db:
            db.execute("INSERT INTO space (name, encoder, dim) VALUES (?, ?, ?)", (codec.plain(space), codec.plain(encoder), dim))
            db.execute(f"CREATE TABLE {self._table(space)} (seq INTEGER PRIMARY KEY, data BLOB NOT NULL)")

    def restore(self, path: str) -> None:
        self._refuse_frozen()
        db, before = self._db(), self.version
        bankfile.load_copy(Path(path), db)
        with bankfile.translated(self._where):
            db.execute("UPDATE bank SET version = max(version, ?) + 1", (before,))

    def get(self, ids: Sequence[str]) -> list[Experience]:
        return [self._decoded(self._row("body", id)) for id in ids]

    def spaces(self) -> dict[str, tuple[str, int]]:
        rows = self._query("SELECT name, encoder, dim FROM space ORDER BY n")
        return {codec.original(name): (codec.original(encoder), dim) for name, encoder, dim in rows}

    def search(
        self, space: str, queries: Vectors, k: int, *, exclude: Sequence[Collection[str]] | None = None
    ) -> list[list[tuple[str, float]]]:
        index = self._index(space)
        asked = codec.matrix(queries, rows=None, dim=index.dim, what=f"queries of space '{space}'", component=type(self).__name__)
        if k < 0:
            raise self._broken(f"cannot search for {k} entries")
        if exclude is not None and len(exclude) != len(asked):
            raise self._broken(f"{len(asked)} queries came with {len(exclude)} sets to exclude")
        return index.search(asked, k, exclude)

    def vectors(self, space: str, ids: Sequence[str]) -> Vectors:
        try:
            return self._index(space).rows(ids)
        except KeyError as missing:
            raise self._broken(f"{missing} has no vector in space '{space}'") from missing

    def ids(self, space: str) -> list[str]:
        return list(self._index(space).ids)

    def from_task(self, task: str) -> frozenset[str]:
        rows = self._query("SELECT id FROM experience WHERE task = ?", codec.plain(task))
        return frozenset(codec.original(id) for (id,) in rows)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        self._freezes += 1
        try:
            yield
        finally:
            self._freezes -= 1

    def digest(self) -> str:
        if self._hashed[0] != self.version:
            self._hashed = (self.version, self._hash())
        return self._hashed[1]

    @property
    def version(self) -> int:
        return int(self._query("SELECT version FROM bank")[0][0])

    def snapshot(self, path: str) -> None:
        bankfile.save_copy(self._db(), Path(path))

    def __len__(self) -> int:
        return int(self._query("SELECT count(*) FROM experience")[0][0])

    def __iter__(self) -> Iterator[Experience]:
        last = -1
        while rows := self._query("SELECT seq, body FROM experience WHERE seq > ? ORDER BY seq LIMIT ?", last, _CHUNK):
            last = rows[-1][0]
            yield from map(self._decoded, (body for _, body in rows))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self._query("SELECT 1 FROM experience WHERE id = ?", codec.plain(id)))

    # The database

    def _db(self) -> sqlite3.Connection:
        if self._closed:
            raise self._broken("used after it was closed")
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _query(self, sql: str, *values: object) -> list[Any]:
        try:
            return self._db().execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise bankfile.explained(error, self._where) from error

    def _row(self, column: str, id: str) -> Any:
        rows = self._query(f"SELECT {column} FROM experience WHERE id = ?", codec.plain(id))  # noqa: S608
        if not rows:
            raise self._broken(f"no experience has the id {id!r}")
        return rows[0][0]

    @contextmanager
    def _writing(self, follow: Follow) -> Iterator[sqlite3.Connection]:
        """One transaction, all or none; ``follow`` then makes the same change to each index in memory."""
        self._refuse_frozen()
        db = self._db()
        with bankfile.translated(self._where):
            db.execute("BEGIN IMMEDIATE")
            try:
                before = self.version
                yield db
                db.execute("UPDATE bank SET version = version + 1")
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        if self._indexed == before:
            for name, index in self._indices.items():
                follow(name, index)
            self._indexed = before + 1

    def _refuse_frozen(self) -> None:
        if self._freezes:
            raise self._broken("the bank is frozen (evaluation reads, learners write); write after the evaluation")

    def _refuse_known(self, ids: Sequence[str]) -> None:
        seen: set[str] = set()
        for id in ids:
            if id in seen or id in self:
                raise self._broken(f"the id {id!r} is already taken; an experience is added once, then updated")
            seen.add(id)

    # Experiences and vectors

    def _encoded(self, experience: Experience) -> str:
        return codec.encode(experience, type(self).__name__)

    def _decoded(self, body: str) -> Experience:
        try:
            return codec.decode(body)
        except (TypeError, ValueError, KeyError, RecursionError) as error:
            raise self._damaged(f"an experience cannot be read: {error}") from error

    def _checked(self, space: str, vectors: Vectors, rows: int) -> Vectors:
        encoder, dim = self._opened(space)
        what = f"vectors of space '{space}' (encoder '{encoder}')"
        return codec.matrix(vectors, rows=rows, dim=dim, what=what, component=type(self).__name__)

    def _opened(self, space: str) -> tuple[str, int]:
        known = self.spaces()
        if space not in known:
            raise self._broken(f"no space is called '{space}' (open: {', '.join(known) or 'none'}); call open_space first")
        return known[space]

    def _table(self, space: str) -> str:
        number = self._query("SELECT n FROM space WHERE name = ?", codec.plain(space))[0][0]
        return f"vector_{number}"

    def _index(self, space: str) -> Space:
        version = self.version
        if version != self._indexed:
            self._indices.clear()
            self._indexed = version
        if space not in self._indices:
            index = Space(self._opened(space)[1])
            for ids, vectors in self._stored(space, index.dim):
                index.add(ids, vectors)
            self._indices[space] = index
        return self._indices[space]

    def _stored(self, space: str, dim: int) -> Iterator[tuple[list[str], Vectors]]:
        """Ids and vectors of a space in order, chunk by chunk."""
        sql = f"SELECT id, data FROM {self._table(space)} CROSS JOIN experience USING (seq) ORDER BY seq"  # noqa: S608
        with bankfile.translated(self._where):
            cursor = self._db().execute(sql)
            while rows := cursor.fetchmany(_CHUNK):
                data = b"".join(blob for _, blob in rows)
                if len(data) != len(rows) * dim * 4:
                    raise self._damaged(f"vectors of space '{space}' do not have dimension {dim}")
                vectors = np.frombuffer(data, dtype="<f4").reshape(-1, dim)
                if not np.isfinite(vectors).all():
                    raise self._damaged(f"vectors of space '{space}' are not finite")
                yield [codec.original(id) for id, _ in rows], vectors

    def _hash(self) -> str:
        content = blake2b(digest_size=16, person=b"xplearn-bank")
        with bankfile.translated(self._where):
            for (body,) in self._db().execute("SELECT body FROM experience ORDER BY seq"):
                content.update(body.encode() + b"\n")
        for name, (encoder, dim) in sorted(self.spaces().items()):
            content.update(f"\n{codec.plain(name)}\n{codec.plain(encoder)}\n{dim}\n".encode())
            for ids, vectors in self._stored(name, dim):
                content.update("\n".join(map(codec.plain, ids)).encode())
                content.update(vectors.tobytes())
        return content.hexdigest()

    def _broken(self, reason: str) -> ContractError:
        return ContractError(type(self).__name__, reason)

    def _damaged(self, reason: str) -> RecordError:
        return bankfile.damaged(self._where, reason)


def _nothing(name: str, index: Space) -> None:
    """What an index has to follow where no vector changed."""
