"""``core.memory``: a bank that lives in memory."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from xplearn.stores import bankfile
from xplearn.stores.sql import SqlStore


@dataclass(kw_only=True)
class MemoryStore(SqlStore):
    """The bank in memory, gone with the process. Snapshots are bank files, which ``core.sqlite`` reads as well."""

    def _connect(self) -> sqlite3.Connection:
        return bankfile.in_memory()

    @property
    def _where(self) -> str:
        return "the bank in memory"
