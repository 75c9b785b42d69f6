"""A cross that goes on with other versions of its environments, tasks or encoder than it began with."""

import json

import pytest

from xplearn.builtin.toys_counting import Counting
from xplearn.cli import main
from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import DataError
from xplearn.experiment.cross.order import Budget
from xplearn.experiment.cross.run import run_cross
from xplearn.experiment.cross.watched import SilentCross
from xplearn.plugins import installed
from xplearn.record.header import read_header

BASE = {
    "policy": "core.random",
    "conditioner": "core.prompt",
    "record": "core.record",
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"split": "test", "limit": 2}, "resamples": 100},
    "run": {"max_steps": 3},
}
STREAMS = {"errands": [{"env": "core.errands", "tasks": {"limit": 1}}], "counting": [{"env": "core.counting", "tasks": {"limit": 1}}]}


class Watching(SilentCross):
    def __init__(self):
        self.begun, self.notes = [], []

    def cell_start(self, cell):
        self.begun.append(cell.id)

    def note(self, text):
        self.notes.append(text)


def said(folder):
    return {"name": "toys", "dir": str(folder), "base": BASE, "axes": {"stream": STREAMS, "seed": [0, 1]}}


def start(folder, **budget):
    watching = Watching()
    return run_cross(said(folder), plugins=installed(), budget=Budget(**budget), observer=watching), watching


def runs(result):
    return {cell.id: cell.run for cell in result.cells}


def versions(result):
    return {read_header(result.folder / cell.run / "run.json").environments.get("core.counting") for cell in result.cells}


@pytest.fixture
def begun(tmp_path):
    """All cells but the last are finished."""
    return start(tmp_path, cells=3)[0]


@pytest.fixture
def of(monkeypatch):
    return lambda version: monkeypatch.setattr(Counting, "version", property(lambda _: version))


def test_cells_finished_with_another_version_of_their_environment_are_run_again_beside_their_runs(tmp_path, begun, of):
    before = runs(begun)
    was = (begun.folder / before["counting · seed 0"] / "run.json").read_bytes()
    of("2")
    after, watching = start(tmp_path)
    assert watching.begun == ["counting · seed 0", "counting · seed 1"]
    assert versions(after) == {None, "2"}
    assert runs(after)["errands · seed 0"] == before["errands · seed 0"]
    assert runs(after)["counting · seed 0"] == f"{before['counting · seed 0']}.2"
    assert (after.folder / before["counting · seed 0"] / "run.json").read_bytes() == was
    assert len(watching.notes) == 1
    assert "made with other versions (the version of 'core.counting' was" in watching.notes[0]
    assert f"and is 2 now), left alone, and run again: 1 run in {after.folder} ({before['counting · seed 0']})" in watching.notes[0]


def test_the_same_command_again_plays_nothing_and_the_version_before_finds_its_runs(tmp_path, begun, of, monkeypatch):
    start(tmp_path)
    of("2")
    second = start(tmp_path)[0]
    again, watching = start(tmp_path)
    assert (runs(again), watching.begun, watching.notes) == (runs(second), [], [])
    monkeypatch.undo()
    first, watching = start(tmp_path)
    assert (watching.begun, watching.notes) == ([], [])
    assert not any(run.endswith(".2") for run in runs(first).values())


def test_a_cell_that_stopped_half_way_is_begun_anew_with_another_version(tmp_path, begun, of):
    place = begun.folder / runs(begun)["counting · seed 0"] / "run.json"
    header = read_header(place)
    header.status = "interrupted"
    header.write(place)
    of("2")
    after, _ = start(tmp_path)
    assert [cell.state for cell in after.cells] == ["finished"] * 4
    assert read_header(place).status == "interrupted"
    assert versions(after) == {None, "2"}


def test_a_dry_run_tells_what_would_be_run_again(tmp_path, begun, of, capsys):
    file = tmp_path / "toys.json"
    file.write_text(json.dumps(said(tmp_path)))
    of("2")
    assert main(["cross", str(file), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "made with other versions (the version of 'core.counting' was" in out
    assert "to run: 2 cells" in out


def test_other_tasks_under_the_same_version_and_another_encoder_part_runs_as_well(tmp_path, begun, monkeypatch):
    tasks = Counting.tasks
    with monkeypatch.context() as patch:
        patch.setattr(Counting, "tasks", lambda self, split: tasks(self, split)[1:])
        _, watching = start(tmp_path)
        assert "counting · seed 0" in watching.begun
        assert "the panel of 'core.counting' was tasks " in watching.notes[0]
    monkeypatch.setattr(HashingEncoder, "id", property(lambda self: "core.hashing/other"))
    _, watching = start(tmp_path, cells=1)
    assert "the encoder was 'core.hashing/256' and is 'core.hashing/other' now" in watching.notes[0]
    assert "4 runs in" in watching.notes[0]
    assert " …)" in watching.notes[0]


@pytest.mark.parametrize("error", [DataError("counting", "is missing; get it"), FileNotFoundError("gone")])
def test_environments_that_cannot_be_asked_leave_finished_cells_as_they_are(tmp_path, monkeypatch, error):
    start(tmp_path)

    def missing(self, split):
        raise error

    monkeypatch.setattr(Counting, "tasks", missing)
    after, watching = start(tmp_path)
    assert [cell.state for cell in after.cells] == ["finished"] * 4
    assert (watching.begun, watching.notes) == ([], [])
