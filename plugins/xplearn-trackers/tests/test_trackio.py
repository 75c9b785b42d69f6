"""trackio: its database on this machine holds the points, and nothing is asked for over a network."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

pytest.importorskip("trackio", reason="needs trackio: pip install 'xplearn-trackers[trackio]'")

NAME = "trackers.trackio"

READ = """
import json, sys
import trackio
from trackio.sqlite_storage import SQLiteStorage
runs = list(trackio.Api().runs("xplearn"))
logs = [line for run in runs for line in SQLiteStorage.get_logs("xplearn", run.name, run_id=run.id)]
print(json.dumps({"runs": [run.name for run in runs], "config": runs[0].config, "logs": logs}))
"""


def read():
    """In a process of its own: trackio decides where its database is when it is imported."""
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def points(logs):
    """``(step, name)`` to value."""
    pairs = [((line["step"], name), value) for line in logs for name, value in line.items() if "/" in name]
    assert len(pairs) == len(dict(pairs)), "a point was written twice"
    return dict(pairs)


@pytest.fixture
def asked(monkeypatch):
    """Every address that this process tries to reach."""
    found, connect = [], socket.socket.connect

    def watched(self, address):
        found.append(address)
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    return found


@pytest.fixture
def start(start, tmp_path, monkeypatch):
    """As before; where trackio was imported already, its database is put in this test's folder all the same."""
    import trackio.sqlite_storage
    import trackio.utils

    for module in (trackio, trackio.utils, trackio.sqlite_storage):
        monkeypatch.setattr(module, "TRACKIO_DIR", tmp_path / "trackio")
    return start


def test_database_holds_the_points_the_configuration_and_the_table(start, expected, asked, capsys):
    folder = start(NAME)
    assert asked == []
    assert capsys.readouterr().out == ""
    found = read()
    assert found["runs"] == [folder.name]
    assert points(found["logs"]) == pytest.approx(expected(folder))
    assert found["config"]["policy"]["name"] == "core.random"
    (table,) = (line["table"] for line in found["logs"] if "table" in line)
    assert table["_value"][0]["domain"] == "core.counting"


def test_resumed_run_is_the_same_run_with_nothing_lost_or_twice(start, interrupt, expected):
    interrupt(NAME, steps=60)
    folder = start(NAME)
    found = read()
    assert found["runs"] == [folder.name]
    assert points(found["logs"]) == pytest.approx(expected(folder))


def test_killed_and_resumed_run_has_lost_nothing(start, kill, expected):
    kill(NAME, steps=100)
    folder = start(NAME)
    found = read()
    assert found["runs"] == [folder.name]
    assert {(line["step"], name): value for line in found["logs"] for name, value in line.items() if "/" in name} == pytest.approx(
        expected(folder)
    )


def test_another_run_by_the_same_name_is_not_taken_for_it(start, expected, tmp_path):
    first = start(NAME)
    second = start(NAME, run__dir=str(tmp_path / "elsewhere"))
    assert (first.name, len(read()["runs"])) == (second.name, 2)
