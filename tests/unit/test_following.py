"""A run while it goes on: what is appended is read once, what is taken back is forgotten, and whether anybody still works is known."""

from __future__ import annotations

import fcntl
import json
import shutil

import pytest

import xplearn
from xplearn.errors import RecordError
from xplearn.experiment.observer import Silent
from xplearn.experiment.telling import Telling
from xplearn.record.following import Following, Tail, held
from xplearn.record.now import NAME, Now, read_now
from xplearn.record.reader import load

CONFIG = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 2}, "rounds": 3}],
    "policy": "core.random",
    "sampling": {"choices": "admissible"},
    "record": "core.record",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "evaluate": {"tasks": {"limit": 2}, "resamples": 100},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return xplearn.run(CONFIG, run__dir=str(tmp_path_factory.mktemp("following"))).folder


@pytest.fixture
def going(finished, tmp_path):
    """The same run as it was after half of its lines."""
    folder = tmp_path / "going"
    shutil.copytree(finished, folder)
    raw = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(raw | {"status": "running", "results": []}))
    for name in ("episodes.jsonl", "metrics.jsonl"):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[: len(lines) // 2]))
    return folder


def test_a_line_is_read_once_and_only_when_it_is_whole(tmp_path):
    path, seen = tmp_path / "x.jsonl", []
    tail = Tail(path, lambda line: seen.append(line) or json.loads(line))
    assert not tail.refresh()
    path.write_text("1\n2\n3")
    assert tail.refresh()
    assert tail.lines == [1, 2]
    assert not tail.refresh()
    with path.open("a") as file:
        file.write("4\n5\n")
    assert tail.refresh()
    assert tail.lines == [1, 2, 34, 5]
    assert len(seen) == 4


def test_lines_that_were_taken_back_are_forgotten(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("1\n2\n3\n")
    tail = Tail(path, json.loads)
    tail.refresh()
    path.write_text("1\n")
    assert tail.refresh()
    assert tail.lines == [1]


def test_a_damaged_line_is_told_with_its_number(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("1\n{\n")
    with pytest.raises(RecordError, match="line 2 is damaged"):
        Tail(path, json.loads).refresh()


def test_what_is_appended_makes_the_run_what_it_is_when_read_whole(finished, going):
    run, whole = Following(going), load(finished)
    assert len(list(run.episodes())) < len(list(whole.episodes()))
    assert not run.refresh()
    for name in ("episodes.jsonl", "metrics.jsonl", "run.json"):
        shutil.copy(finished / name, going / name)
    assert run.refresh()
    assert list(run.episodes()) == list(whole.episodes())
    assert (run.scalars(), run.calls(), run.header) == (whole.scalars(), whole.calls(), whole.header)
    assert run.table() == whole.table()
    assert next(run.latest()) == list(whole.episodes())[-1]


def test_a_run_that_nobody_holds_was_killed(going):
    run = Following(going)
    assert run.killed
    with (going / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert held(going)
        assert not run.killed
    assert not held(going)
    (going / "lock").unlink()
    assert not held(going)


def test_a_run_that_says_how_it_ended_was_not_killed(finished):
    assert not Following(finished).killed


def test_what_is_under_way_stands_in_a_file_until_it_is_closed(tmp_path, monkeypatch):
    telling = Telling(Silent(), tmp_path)
    telling.phase_start("train/0/0", 8)
    monkeypatch.setattr(telling, "every_seconds", 0.0)
    telling.advance(2, score=50.0, broken=float("nan"))
    now = read_now(tmp_path)
    assert (now.phase, now.done, now.total, now.figures, now.ended) == ("train/0/0", 2, 8, {"score": 50.0}, False)
    telling.phase_end()
    assert read_now(tmp_path).ended
    telling.close()
    assert list(tmp_path.iterdir()) == []
    telling.close()


def test_progress_inside_a_phase_is_written_once_a_second_at_most(tmp_path, monkeypatch):
    telling = Telling(Silent(), tmp_path)
    telling.phase_start("x", 100)
    monkeypatch.setattr(telling, "every_seconds", 1e9)
    for _ in range(10):
        telling.advance()
    assert read_now(tmp_path).done == 0
    telling.phase_end()
    assert read_now(tmp_path).done == 10


def test_a_folder_that_cannot_be_written_disturbs_nobody(tmp_path):
    telling = Telling(Silent(), tmp_path / "gone")
    telling.phase_start("x", 1)
    telling.advance()
    telling.phase_end()
    telling.close()


def test_the_rest_takes_as_long_as_the_rate_so_far_says():
    now = Now(phase="x", total=30, done=10, began=100.0, at=105.0)
    assert now.rate == 2.0
    assert now.left(105.0) == 10.0
    assert now.left(109.0) == 6.0
    assert now.left(500.0) == 0.0
    assert Now(phase="x", total=30, began=100.0, at=105.0).left(105.0) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"phase": 3}', "\x00"])
def test_a_file_that_does_not_say_what_is_under_way_says_nothing(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    assert read_now(tmp_path) is None


def test_a_finished_run_leaves_no_word_of_what_was_under_way(finished):
    assert not (finished / NAME).exists()
