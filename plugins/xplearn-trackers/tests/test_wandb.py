"""W&B offline: a folder below the run's, made without network."""

from __future__ import annotations

import json
import struct

import pytest

import xplearn

pytest.importorskip("wandb", reason="needs wandb: pip install 'xplearn-trackers[wandb]'")

NAME = "trackers.wandb"


def records(data):
    """The records of a ``.wandb`` file: after 7 bytes of heading the log format of LevelDB, blocks of 32 KiB of pieces."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        rest = -at % 32768
        if rest < 7 and rest:
            at += rest
            continue
        _, size, kind = struct.unpack("<IHB", data[at : at + 7])
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):
            yield whole
            whole = b""


def read(folder):
    """Rows of the curves, hyperparameters, and the ids of the runs."""
    from wandb.proto.wandb_internal_pb2 import Record

    rows, config, ids = [], {}, set()
    for path in sorted((folder / "trackers" / "wandb").glob("offline-run-*/*.wandb")):
        for record in map(Record.FromString, records(path.read_bytes())):
            ids |= {record.run.run_id} if record.WhichOneof("record_type") == "run" else set()
            config |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
            items = record.history.item
            rows += [{(item.key or ".".join(item.nested_key)): json.loads(item.value_json) for item in items}] if items else []
    return rows, config, ids


def points(rows):
    """``(round, name)`` to value."""
    pairs = [((row["round"], name), value) for row in rows if "round" in row for name, value in row.items() if "/" in name]
    assert len(pairs) == len(dict(pairs)), "a point was written twice"
    return dict(pairs)


def test_offline_folder_holds_the_points_the_configuration_and_the_table(start, expected):
    folder = start(NAME)
    rows, config, ids = read(folder)
    assert points(rows) == pytest.approx(expected(folder))
    assert config["policy"]["name"] == "core.random"
    assert len(ids) == 1
    (table,) = (row for row in rows if "table.nrows" in row)
    assert table["table.nrows"] == len(xplearn.load(folder).header.results)


def test_interrupted_and_resumed_run_is_one_with_no_point_twice(start, interrupt, expected):
    interrupt(NAME, steps=60)
    folder = start(NAME)
    rows, _, ids = read(folder)
    assert len(list((folder / "trackers" / "wandb").glob("offline-run-*"))) == 2
    assert len(ids) == 1
    assert points(rows) == pytest.approx(expected(folder))


def test_killed_and_resumed_run_has_lost_nothing(start, kill, expected):
    kill(NAME, steps=100)
    folder = start(NAME)
    rows, _, ids = read(folder)
    assert len(ids) == 1
    found = {(row["round"], name): value for row in rows if "round" in row for name, value in row.items() if "/" in name}
    assert found == pytest.approx(expected(folder))


def test_environment_says_whether_it_is_sent(start, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "disabled")
    folder = start(NAME)
    assert not list((folder / "trackers").glob("wandb/offline-run-*"))
    assert xplearn.load(folder).header.status == "finished"
