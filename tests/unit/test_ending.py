"""Commands that go on where they stopped: how they end when they are asked to, and what is said of one that was killed."""

import json
import signal

import pytest

from xplearn.cli import main
from xplearn.experiment.cross import jobs
from xplearn.experiment.cross.ledger import locked
from xplearn.record.cross import load_cross

BASE = {"policy": "core.random", "sampling": {"choices": "admissible"}, "evaluate": {"tasks": {"limit": 1}}, "run": {"max_steps": 2}}
STREAM = [{"env": "core.counting", "tasks": {"limit": 1}}]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"name": "x", "dir": str(tmp_path), "base": {**BASE, "stream": STREAM}, "axes": {"seed": [0, 1]}}))
    return path


@pytest.fixture
def terminated(monkeypatch):
    """The second cell is under way when the process is told to end."""
    begun = []

    def run_cell(*arguments):
        begun.append(arguments)
        if len(begun) == 2:
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
            signal.raise_signal(signal.SIGTERM)
        return once(*arguments)

    once = jobs.run_cell
    monkeypatch.setattr(jobs, "run_cell", run_cell)


def test_a_cross_that_is_terminated_notes_what_is_interrupted_and_says_how_to_go_on(file, tmp_path, terminated, capsys):
    before = signal.getsignal(signal.SIGTERM)
    assert main(["cross", "-q", str(file)]) == 143
    assert capsys.readouterr().err.strip() == "interrupted; the same command goes on from here"
    assert [(cell.state, cell.reason) for cell in load_cross(tmp_path / "x").cells] == [("finished", ""), ("waiting", "interrupted")]
    assert signal.getsignal(signal.SIGTERM) is before
    assert main(["cross", "-q", str(file)]) == 0


@pytest.fixture
def killed(file, tmp_path):
    """A cross whose record says that a cell is under way."""
    assert main(["cross", "-q", str(file)]) == 0
    cross = load_cross(tmp_path / "x")
    raw = json.loads((tmp_path / "x" / "cross.json").read_text())
    raw["cells"][1]["state"] = "running"
    (tmp_path / "x" / "cross.json").write_text(json.dumps(raw))
    run = tmp_path / "x" / cross.cells[1].run
    (run / "run.json").write_text(json.dumps(json.loads((run / "run.json").read_text()) | {"status": "running", "results": []}))
    return tmp_path / "x", run


def test_of_a_cross_that_was_killed_nothing_is_under_way(killed, capsys):
    folder, _ = killed
    capsys.readouterr()
    assert main(["show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "2 cells: 1 finished, 1 interrupted" in out
    assert out.splitlines()[-1] == "no process works on this cross: the same command goes on with it"
    with locked(folder):
        assert main(["show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "1 under way" in out
    assert out.splitlines()[-1] == f"look on while it goes on: xplearn show {folder} --follow"


def test_of_a_run_that_was_killed_it_is_said(killed, capsys, monkeypatch):
    folder, run = killed
    capsys.readouterr()
    assert main(["show", str(run)]) == 0
    assert "no process works on it: it was killed; the same command goes on with it" in capsys.readouterr().out
    monkeypatch.chdir(folder.parent)
    (folder.parent / "runs").symlink_to(folder)
    assert main(["show"]) == 0
    assert "killed, " in capsys.readouterr().out
