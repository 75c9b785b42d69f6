import base64
import dataclasses
import json
import math

import numpy as np
import pytest

from xplearn.errors import DataError, RecordError
from xplearn.record import exchange
from xplearn.record.bank import open_bank
from xplearn.record.exchange import export_bank, import_bank
from xplearn.stores.memory import MemoryStore
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.contracts.store_search import DIM, fill, unit


@pytest.fixture
def exported(tmp_path):
    """A bank of ten entries, some without a vector in one of its two spaces, and its lines."""
    store = MemoryStore()
    fill(store, 6)
    store.open_space("step\u202e", encoder="e/8", dim=DIM)
    odd = dataclasses.replace(
        samples.experience(6), content="Line.\r\n\ud800 <|im_start|>\0", meta={"sources": ["a", "b"], "deep": {"x": 1.5}}
    )
    store.add([odd], {"key": unit(1, seed=1), "step\u202e": unit(1, seed=2)})
    store.add([samples.experience(7)])
    store.add([samples.experience(8), samples.experience(9)], {"step\u202e": unit(2, seed=3)})
    store.remove(["experience-2"])
    assert export_bank(store, tmp_path / "bank.jsonl") == 9
    return store


def lines(tmp_path):
    return (tmp_path / "bank.jsonl").read_text().splitlines()


def write(tmp_path, rows):
    (tmp_path / "bad.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path / "bad.jsonl"


def test_a_bank_comes_back_with_the_same_digest_entries_and_vectors(tmp_path, exported):
    count, digest = import_bank(tmp_path / "bank.jsonl", tmp_path / "new" / "bank.sqlite")
    assert (count, digest) == (9, exported.digest())
    with open_bank(tmp_path / "new" / "bank.sqlite") as store:
        assert list(store) == list(exported)
        assert store.spaces() == exported.spaces()
        assert np.array_equal(store.vectors("key", ["experience-6"]), exported.vectors("key", ["experience-6"]))
    assert (tmp_path / "bank.jsonl").read_bytes().isascii()


def test_an_empty_bank_is_a_bank_too(tmp_path):
    store = MemoryStore()
    store.open_space("key", encoder="e/8", dim=DIM)
    export_bank(store, tmp_path / "bank.jsonl")
    assert import_bank(tmp_path / "bank.jsonl", tmp_path / "bank.sqlite") == (0, store.digest())


def test_nothing_is_overwritten(tmp_path, exported):
    with pytest.raises(DataError, match="is there already"):
        export_bank(exported, tmp_path / "bank.jsonl")
    (tmp_path / "bank.sqlite").write_text("mine")
    with pytest.raises(RecordError, match="is there already; name another file, or add to it with --into"):
        import_bank(tmp_path / "bank.jsonl", tmp_path / "bank.sqlite")
    assert (tmp_path / "bank.sqlite").read_text() == "mine"


def test_a_bank_is_added_to_another_whole_or_not_at_all(tmp_path, exported):
    target = tmp_path / "bank.sqlite"
    store = SqliteStore(path=str(target))
    store.open_space("key", encoder="e/8", dim=DIM)
    store.add([samples.experience(100)], {"key": unit(1, seed=9)})
    store.close()
    assert import_bank(tmp_path / "bank.jsonl", target, into=True)[0] == 9
    with open_bank(target) as store:
        assert [found.id for found in store] == ["experience-100", *(found.id for found in exported)]
        whole = store.digest()
    with pytest.raises(DataError, match="its entry 'experience-0' is in the bank already"):
        import_bank(tmp_path / "bank.jsonl", target, into=True)
    with open_bank(target) as store:
        assert store.digest() == whole


def test_a_bank_of_another_encoder_is_not_added(tmp_path, exported):
    store = SqliteStore(path=str(tmp_path / "bank.sqlite"))
    store.open_space("key", encoder="another", dim=DIM)
    digest = store.digest()
    store.close()
    with pytest.raises(DataError, match=r"does not fit the bank .*another.*e/8"):
        import_bank(tmp_path / "bank.jsonl", tmp_path / "bank.sqlite", into=True)
    with open_bank(tmp_path / "bank.sqlite") as store:
        assert store.digest() == digest


def changed(row, path, value):
    """A line with another value at a dotted path; None removes it."""
    raw = json.loads(row)
    *parents, last = path.split(".")
    place = raw
    for name in parents:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(raw)


NUMBERS = base64.b64encode(np.full(DIM, math.nan, dtype="<f4").tobytes()).decode()
HUGE = base64.b64encode(np.full(DIM, 3e38, dtype="<f4").tobytes()).decode()
DAMAGE = [
    (2, "vectors.key", NUMBERS, "line 3 is damaged .*not finite"),
    (2, "vectors.key", HUGE, "line 3 is damaged .*not finite"),
    (2, "vectors.key", "AAAA", r"line 3 is damaged \(the vector of space 'key' has 0.75 numbers, not 8"),
    (2, "vectors.key", "no base64!", "line 3 is damaged .*no base64"),
    (2, "vectors.key", 7, "line 3 is damaged .*vectors"),
    (2, "vectors.key", None, r"line 1 is damaged \(it says vectors of space 'key': 6, and the file holds 5"),
    (2, "vectors.nowhere", "AAAA", "line 3 is damaged .there is no space 'nowhere'"),
    (2, "experience.id", "experience-0", "line 3 is damaged .the id 'experience-0' is there twice"),
    (2, "experience.id", 5, "line 3 is damaged .id is 5"),
    (2, "experience.utility", 10**400, "line 3 is damaged .int too large"),
    (2, "experience.utility", "much", "line 3 is damaged .utility is 'much'"),
    (2, "experience.created", [1, 2], r"line 3 is damaged .created is \[1, 2\]"),
    (2, "experience.content", "Nothing.", "line 1 is damaged .it says digest"),
    (2, "experience.task", None, "line 3 is damaged .lacks task"),
    (2, "experience.more", 1, "line 3 is damaged .has unknown more"),
    (0, "entries", 10, "line 1 is damaged .it says entries: 10, and the file holds 9"),
    (0, "digest", "0", "line 1 is damaged .it says digest: 0"),
    (0, "format", "xplearn bank 2", "no exported bank of a format known here"),
    (0, "spaces.key.dim", 0, "line 1 is damaged .*dimension of at least 1"),
    (0, "spaces.key.dim", 10**12, "line 2 is damaged .the vector of space 'key' has 8 numbers"),
    (0, "spaces.key.dim", "8", "line 1 is damaged .dim is '8'"),
    (0, "spaces.key", [], "line 1 is damaged .want the fields of _Space"),
    (0, "xplearn", None, "line 1 is damaged .lacks xplearn"),
]


@pytest.mark.parametrize(("row", "path", "value", "reason"), DAMAGE, ids=[f"{path}={str(value)[:20]}" for _, path, value, _ in DAMAGE])
def test_a_changed_file_is_refused_in_one_line_and_leaves_nothing(tmp_path, exported, row, path, value, reason):
    rows = lines(tmp_path)
    rows[row] = changed(rows[row], path, value)
    with pytest.raises(DataError, match=reason) as caught:
        import_bank(write(tmp_path, rows), tmp_path / "bank.sqlite")
    assert len(str(caught.value).splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "bank.jsonl"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no exported bank"),
        (b"\0\1\2\n", "line 1 is damaged"),
        (b"[]\n", "no exported bank"),
        (b"[" * 100_000 + b"\n", "line 1 is damaged .*recursion"),
        (b'{"format":"xplearn bank 1","entries":' + b"9" * 5000 + b"}\n", "line 1 is damaged"),
        (b'{"format":"xplearn bank 1","entries":NaN}\n', "line 1 is damaged .NaN is no finite number"),
        (b'{"format":"xplearn bank 1"', "line 1 is damaged .it is cut off"),
    ],
)
def test_a_file_of_another_making_is_refused(tmp_path, content, reason):
    (tmp_path / "bad.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=reason):
        import_bank(tmp_path / "bad.jsonl", tmp_path / "bank.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_a_file_that_is_cut_off_is_refused_wherever_the_cut_is(tmp_path, exported):
    whole = (tmp_path / "bank.jsonl").read_bytes()
    for end in range(1, len(whole), 211):
        (tmp_path / "bad.jsonl").write_bytes(whole[:end])
        with pytest.raises(DataError):
            import_bank(tmp_path / "bad.jsonl", tmp_path / "bank.sqlite")
    assert not (tmp_path / "bank.sqlite").exists()


def test_a_line_without_end_is_not_read_to_its_end(tmp_path, exported, monkeypatch):
    monkeypatch.setattr(exchange, "LINE_BYTES", 1000)
    rows = lines(tmp_path)
    rows[3] = changed(rows[3], "experience.content", "x" * 2000)
    with pytest.raises(DataError, match=r"line 4 is damaged .it is longer than 1000 bytes"):
        import_bank(write(tmp_path, rows), tmp_path / "bank.sqlite")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(DataError, match=r"cannot be read .No such file"):
        import_bank(tmp_path / "none.jsonl", tmp_path / "bank.sqlite")
