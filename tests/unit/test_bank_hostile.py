"""``xplearn bank`` where it cannot write."""

import contextlib

import pytest

from xplearn.cli import main
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing.contracts.store_search import fill

UNWRITABLE = ["file/in", "l" * 300]
"""Below a file, and with a longer name than file systems take."""


@pytest.fixture
def bank(tmp_path):
    path = tmp_path / "bank.sqlite"
    with contextlib.closing(SqliteStore(path=str(path))) as store:
        fill(store, 2)
    return path


@pytest.mark.parametrize("name", UNWRITABLE)
@pytest.mark.parametrize("verb", ["export", "import"])
def test_a_place_that_cannot_be_written_is_told_in_one_line(verb, name, bank, tmp_path, capsys):
    (tmp_path / "file").write_text("kept")
    assert main(["bank", "export", str(bank), str(tmp_path / "bank.jsonl")]) == 0
    source = {"export": bank, "import": tmp_path / "bank.jsonl"}[verb]
    capsys.readouterr()
    assert main(["bank", verb, str(source), str(tmp_path / name)]) == 2
    told = capsys.readouterr().err
    assert " cannot be " in told
    assert told.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bank.jsonl", "bank.sqlite", "file"]
