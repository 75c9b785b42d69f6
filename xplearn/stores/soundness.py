"""Whether a bank's tables hold what this package writes: SQLite only vouches for its own pages."""

from __future__ import annotations

import sqlite3

_ROWS = (
    ("SELECT count(*) <> 1 OR total(typeof(version) <> 'integer') FROM bank", "its number of writes is lost"),
    (
        "SELECT count(*) FROM experience WHERE typeof(id) <> 'text' OR typeof(task) <> 'text' OR typeof(body) <> 'text' "
        "OR NOT json_valid('\"' || id || '\"') OR NOT json_valid('\"' || task || '\"')",
        "the id or task of an experience is garbled",
    ),
    (
        "SELECT count(*) FROM space WHERE typeof(name) <> 'text' OR typeof(encoder) <> 'text' OR typeof(dim) <> 'integer' OR dim < 1 "
        "OR NOT json_valid('\"' || name || '\"') OR NOT json_valid('\"' || encoder || '\"')",
        "the description of a space is garbled",
    ),
)
"""Queries that count offences, and what they mean."""


def find_damage(db: sqlite3.Connection) -> str:
    """What is wrong with a bank, or the empty text. Reads every page, changes nothing."""
    verdict = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    if verdict != "ok":
        return verdict.splitlines()[-1]
    return find_garbled_row(db) or _find_garbled_vector(db)


def find_garbled_row(db: sqlite3.Connection) -> str:
    """As ``find_damage``, for the columns alone."""
    return next((meaning for query, meaning in _ROWS if db.execute(query).fetchone()[0]), "")


def _find_garbled_vector(db: sqlite3.Connection) -> str:
    for number, dim in db.execute("SELECT n, dim FROM space").fetchall():
        query = f"SELECT count(*) FROM vector_{number} WHERE typeof(data) <> 'blob' OR length(data) <> ?"  # noqa: S608 - an integer key
        if db.execute(query, (4 * dim,)).fetchone()[0]:
            return f"vectors of space {number} do not have dimension {dim}"
    return ""
