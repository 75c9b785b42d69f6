from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xplearn.errors import ContractError, RecordError
from xplearn.stores import bankfile
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.contracts.store_search import DIM, fill, unit


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "bank.sqlite"


@pytest.fixture
def opened():
    stores = []

    def open_bank(path) -> SqliteStore:
        stores.append(SqliteStore(path=str(path)))
        return stores[-1]

    yield open_bank
    for store in stores:
        store.close()


def test_reopened_bank_is_the_same(path, opened):
    first = opened(path)
    vectors = fill(first, 30)
    first.remove(["experience-4"])
    first.update("experience-5", uses=3)
    digest, version, hits = first.digest(), first.version, first.search("key", vectors, 3)
    first.close()
    assert list(path.parent.iterdir()) == [path]
    again = opened(path)
    assert (again.digest(), again.version, again.search("key", vectors, 3)) == (digest, version, hits)
    assert again.spaces() == {"key": ("e/8", DIM)}


def test_space_opened_with_another_encoder_is_refused_after_reopening(path, opened):
    fill(opened(path), 1)
    with pytest.raises(ContractError, match=r"bank\.sqlite.*e/8.*dimension 8.*core\.minilm.*384"):
        opened(path).open_space("key", encoder="core.minilm", dim=384)


CHILD = """
import sys
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.contracts.store_search import unit
store = SqliteStore(path=sys.argv[1])
store.open_space("key", encoder="e/8", dim=8)
for start in range(0, 100_000, 50):
    store.add([samples.experience(n) for n in range(start, start + 50)], {"key": unit(50, seed=start)})
    print(start + 50, flush=True)
"""


def test_what_add_returned_from_survives_kill_9(path, opened):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True)
    with child:
        for _ in range(4):
            confirmed = int(child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
        confirmed = max([confirmed, *(int(line) for line in child.stdout.read().splitlines())])
    store = opened(path)
    assert len(store) >= confirmed
    assert len(store) % 50 == 0
    assert [experience.id for experience in store] == [f"experience-{number}" for number in range(len(store))]
    np.testing.assert_array_equal(store.vectors("key", ["experience-149"]), unit(50, seed=100)[49:])
    store.add([samples.experience(999_999)])


def test_failure_inside_a_write_leaves_nothing(path, opened, monkeypatch):
    store = opened(path)
    vectors = fill(store, 3)
    before = store.digest()
    monkeypatch.setattr(SqliteStore, "_table", lambda self, space: "vector_99")
    with pytest.raises(RecordError, match="vector_99"):
        store.add([samples.experience(7)], {"key": vectors[:1]})
    monkeypatch.undo()
    assert store.digest() == before
    assert len(store.search("key", vectors, 9)[0]) == 3


def test_write_of_another_process_is_seen(path, opened):
    first, second = opened(path), opened(path)
    vectors = fill(first, 3)
    assert len(second.search("key", vectors, 9)[0]) == 3
    fill(second, 2, first=10)
    second.remove(["experience-0"])
    assert [id for id, _ in first.search("key", vectors[:1], 9)[0]] == [id for id, _ in second.search("key", vectors[:1], 9)[0]]
    assert first.digest() == second.digest()


def test_locked_bank_names_the_cause(path, opened):
    store = opened(path)
    fill(store, 1)
    store._db().execute("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RecordError, match="another process"):
        store.update("experience-0", uses=1)
    other.close()
    store.update("experience-0", uses=1)


def _truncate(path: Path):
    os.truncate(path, path.stat().st_size // 2)


def _scribble(path: Path):
    data = bytearray(path.read_bytes())
    data[8192 * 2 : 8192 * 4] = os.urandom(8192 * 2)
    path.write_bytes(data)


def _replace_by_text(path: Path):
    path.write_text("this is no database\n" * 100)


def _replace_by_a_stub(path: Path):
    path.write_bytes(b"SQLite")


def _replace_by_foreign_database(path: Path):
    path.unlink()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE photos (x)")
    db.close()


def _make_newer(path: Path):
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {bankfile.FORMAT + 1}")
    db.execute("PRAGMA journal_mode = DELETE").fetchone()
    db.close()


def _turn_into_a_damaged_snapshot(path: Path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = DELETE").fetchone()
    db.close()
    _scribble(path)


def _statement(sql):
    def spoil(path: Path):
        db = sqlite3.connect(path)
        with db:
            db.execute(sql)
        db.execute("PRAGMA journal_mode = DELETE").fetchone()
        db.close()

    return spoil


GARBLED = [
    "DELETE FROM bank",
    "INSERT INTO bank VALUES (7)",
    "UPDATE bank SET version = 'abc'",
    "UPDATE experience SET id = 'bad \\q escape' WHERE seq = 2",
    "UPDATE experience SET id = x'00' WHERE seq = 2",
    "UPDATE experience SET task = 'bad \\u12' WHERE seq = 2",
    "UPDATE experience SET body = x'00' WHERE seq = 2",
    "UPDATE space SET name = 'bad \\q escape'",
    "UPDATE space SET encoder = '\\'",
    "UPDATE space SET dim = 'wide'",
    "UPDATE space SET dim = -1",
    "UPDATE space SET dim = 7",
    "UPDATE vector_1 SET data = 'some text of thirty-two letters..' WHERE seq = 2",
    "UPDATE vector_1 SET data = x'00' WHERE seq = 2",
    "DROP TABLE vector_1",
    "DROP TABLE experience",
]


@pytest.mark.parametrize("sql", GARBLED)
def test_tables_that_nobody_here_wrote_are_refused_and_left_alone(path, opened, sql):
    store = opened(path)
    fill(store, 3)
    store.close()
    _statement(sql)(path)
    before = path.read_bytes()
    with pytest.raises(RecordError, match=r"bank\.sqlite: .*damaged.*restore a snapshot"):
        opened(path).setup(None)
    with pytest.raises(RecordError, match="damaged"):
        opened(path.with_name("other")).restore(str(path))
    assert isinstance(SqliteStore(path=str(path)).provides, frozenset)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_truncate, "damaged"),
        (_scribble, "damaged"),
        (_turn_into_a_damaged_snapshot, "damaged"),
        (_replace_by_text, "is not a bank"),
        (_replace_by_a_stub, "is not a bank"),
        (_replace_by_foreign_database, "not a bank"),
        (_make_newer, "bank format 2, this xplearn reads 1"),
    ],
)
def test_file_that_cannot_be_read_is_refused_and_left_alone(path, opened, spoil, reason):
    store = opened(path)
    fill(store, 200)
    store.close()
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(RecordError, match=reason) as caught:
        opened(path).setup(None)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_snapshot_of_a_newer_format_is_refused(path, tmp_path, opened):
    store = opened(path)
    fill(store, 2)
    copy = tmp_path / "copy"
    store.snapshot(str(copy))
    _make_newer(copy)
    with pytest.raises(RecordError, match="bank format 2"):
        store.restore(str(copy))
    assert len(store) == 2


def test_folder_in_place_of_the_file_is_refused(tmp_path, opened):
    with pytest.raises(RecordError, match="directory"):
        opened(tmp_path).setup(None)


def test_leftover_log_of_a_deleted_bank_is_not_replayed(path, opened):
    store = opened(path)
    fill(store, 5)
    path.with_name("bank.sqlite-wal").read_bytes()
    path.rename(path.with_name("moved"))
    new = opened(path)
    assert len(new) == 0
    fill(new, 1)
    assert len(new) == 1


def test_empty_file_becomes_a_bank(path, opened):
    path.parent.mkdir()
    path.touch()
    store = opened(path)
    fill(store, 1)
    assert len(store) == 1


def test_run_gives_a_place_only_where_the_configuration_has_none(tmp_path):
    configured, free = SqliteStore(path=str(tmp_path / "mine")), SqliteStore()
    for store in (configured, free):
        store.open(str(tmp_path / "run"))
        store.setup(None)
        store.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine", "run"]


def test_place_cannot_change_after_first_use(tmp_path):
    store = SqliteStore()
    assert len(store) == 0
    with pytest.raises(ContractError, match="already open"):
        store.open(str(tmp_path / "late"))
    store.close()


def test_bank_without_a_place_is_temporary():
    store = SqliteStore()
    fill(store, 1)
    file = Path(store._where)
    assert file.is_file()
    store.close()
    assert not file.parent.exists()


def test_existing_bank_says_what_it_provides(path, opened):
    store = opened(path)
    assert store.provides == frozenset()
    store.open_space("kéy", encoder="e", dim=2)
    assert store.provides == frozenset()
    store.add([samples.experience(0)])
    store.close()
    assert SqliteStore(path=str(path)).provides == {"store.filled", "store.space:kéy"}
    _replace_by_text(path)
    assert SqliteStore(path=str(path)).provides == frozenset()


def test_a_vector_of_the_wrong_size_in_the_file_is_damage(path, opened):
    store = opened(path)
    fill(store, 3)
    store._db().execute("UPDATE vector_1 SET data = x'00' WHERE seq = 2")
    with pytest.raises(RecordError, match="damaged"):
        store.search("key", unit(1), 1)


def test_a_line_that_is_no_experience_is_damage(path, opened):
    store = opened(path)
    fill(store, 3)
    store._db().execute("UPDATE experience SET body = '{}' WHERE seq = 2")
    with pytest.raises(RecordError, match="damaged"):
        list(store)


@pytest.mark.parametrize("body", ["[]", "5", '{"created": 3}', "[" * 100_000, "not json"])
def test_every_kind_of_broken_line_is_damage(path, opened, body):
    store = opened(path)
    fill(store, 3)
    store._db().execute("UPDATE experience SET body = ? WHERE seq = 2", (body,))
    with pytest.raises(RecordError, match="damaged"):
        store.get(["experience-1"])


def test_a_vector_that_is_not_finite_is_damage(path, opened):
    store = opened(path)
    fill(store, 3)
    store._db().execute("UPDATE vector_1 SET data = ? WHERE seq = 2", (np.full(DIM, np.nan, dtype="<f4").tobytes(),))
    with pytest.raises(RecordError, match="not finite"):
        store.search("key", unit(1), 1)


@pytest.mark.parametrize("vectors", [np.ones((1, DIM), dtype=np.complex64), [["1"] * DIM], np.full((1, DIM), "1"), [[None] * DIM]])
def test_only_real_numbers_are_vectors(path, opened, vectors):
    store = opened(path)
    fill(store, 1)
    with pytest.raises(ContractError, match="real numbers"):
        store.search("key", vectors, 1)
