"""``core.sqlite``: a bank in one file."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xplearn.capability import Capability
from xplearn.errors import ContractError, XplearnError
from xplearn.stores import bankfile
from xplearn.stores.sql import SqlStore


@dataclass(kw_only=True)
class SqliteStore(SqlStore):
    """The bank in one SQLite file, which alone is the truth: indices are built from it.

    What a write returned from survives the death of the process at any moment; a power cut may lose the last writes, never the
    file. One process writes at a time; others may read meanwhile.
    """

    path: str = ""
    """File of the bank; empty for the run's own, or a temporary one outside a run. An existing bank is continued."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._file = self.path
        self._temporary = ""

    @property
    def provides(self) -> frozenset[Capability]:
        """What a bank that exists already holds."""
        count, spaces = self._found()
        return frozenset(["store.filled", *(f"store.space:{name}" for name in spaces)] if count else [])

    @property
    def encoders(self) -> Mapping[str, str]:
        return self._found()[1]

    def _found(self) -> tuple[int, dict[str, str]]:
        """Number of experiences, and encoder ids by space, of a bank that exists already and can be read."""
        if not self.path or not Path(self.path).is_file():
            return 0, {}
        try:
            return bankfile.peek(Path(self.path))
        except XplearnError:
            return 0, {}

    def open(self, path: str) -> None:
        if self.path:
            return
        if self._connection is not None:
            raise ContractError("SqliteStore", f"is already open at {self._file}; choose a place before first use")
        self._file = path

    def close(self) -> None:
        super().close()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _connect(self) -> sqlite3.Connection:
        if not self._file:
            self._temporary = tempfile.mkdtemp(prefix="xplearn-bank-")
            self._file = str(Path(self._temporary) / "bank.sqlite")
        return bankfile.connect(Path(self._file))

    @property
    def _where(self) -> str:
        return self._file or "the temporary bank"
