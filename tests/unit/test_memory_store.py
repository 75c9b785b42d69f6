from __future__ import annotations

import pytest

from xplearn.errors import ContractError
from xplearn.stores.memory import MemoryStore
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.contracts.store_search import fill


def test_memory_and_file_agree_on_the_digest(tmp_path):
    stores = MemoryStore(), SqliteStore(path=str(tmp_path / "bank.sqlite"))
    for store in stores:
        fill(store, 5)
        store.remove(["experience-2"])
        store.update("experience-3", utility=0.1, meta={"é": [1, 2.5]})
    assert stores[0].digest() == stores[1].digest()
    for store in stores:
        store.close()


def test_digest_of_known_content_never_changes():
    store = MemoryStore()
    store.open_space("key", encoder="e/2", dim=2)
    store.add([samples.experience(0), samples.experience(1)], {"key": [[1.0, 0.0], [0.6, 0.8]]})
    assert store.digest() == "4e8a0118363f11b37cb454c81de1dbe4"


def test_a_file_reads_what_memory_snapshot(tmp_path):
    store = MemoryStore()
    vectors = fill(store, 5)
    store.snapshot(str(tmp_path / "copy.sqlite"))
    reopened = SqliteStore(path=str(tmp_path / "copy.sqlite"))
    assert reopened.digest() == store.digest()
    assert reopened.search("key", vectors, 2) == store.search("key", vectors, 2)
    reopened.close()


def test_two_stores_share_nothing():
    first, second = MemoryStore(), MemoryStore()
    first.add([samples.experience(0)])
    assert len(second) == 0


def test_closed_store_says_so():
    store = MemoryStore()
    store.close()
    with pytest.raises(ContractError, match="closed"):
        len(store)


def test_whole_numbers_given_as_floats_come_back_as_floats():
    store = MemoryStore()
    store.add([samples.experience(0)])
    store.update("experience-0", utility=1, outcome=1)
    found = store.get(["experience-0"])[0]
    assert (type(found.utility), type(found.outcome)) == (float, float)
