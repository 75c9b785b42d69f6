"""``xplearn show --follow``: what a run or a cross is doing, until it is over."""

from __future__ import annotations

import fcntl
import io
import json
import shutil
import time

import pytest
from rich.console import Console

import xplearn
from xplearn.cli import follow as following
from xplearn.cli import main
from xplearn.cli.follow import RunView, follow
from xplearn.cli.follow_cross import CrossView
from xplearn.experiment.cross.run import run_cross
from xplearn.plugins import installed
from xplearn.record.cross import load_cross
from xplearn.record.following import Following
from xplearn.record.now import NAME
from xplearn.report.learning import figures
from xplearn.report.live import LiveRun, bar, doing, span

BASE = {
    "policy": "core.random",
    "sampling": {"choices": "admissible"},
    "record": "core.record",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "evaluate": {"tasks": {"limit": 2}, "resamples": 100},
}
STREAM = [{"env": "core.counting", "tasks": {"limit": 2}, "rounds": 3}]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return xplearn.run(BASE, stream=STREAM, run__dir=str(tmp_path_factory.mktemp("follow"))).folder


@pytest.fixture
def going(finished, tmp_path):
    """The same run before its last evaluation, held by a process."""
    folder = tmp_path / "going"
    shutil.copytree(finished, folder)
    change(folder / "run.json", status="running", results=[], bank={})
    lines = (folder / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folder / "episodes.jsonl").write_text("".join(line for line in lines if "eval/1" not in line))
    now(folder, "eval/1/core.counting", 4, done=1)
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def change(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def now(folder, phase, total, **fields):
    at = time.time()
    raw = {"phase": phase, "total": total, "done": 0, "began": at - 10.0, "at": at, "ended": False, "figures": {}, **fields}
    (folder / NAME).write_text(json.dumps(raw))


def looking(view, monkeypatch, *steps, terminal=False):
    """What is printed while one thing after another happens between two looks."""
    waiting = iter(steps)
    monkeypatch.setattr(following.time, "sleep", lambda seconds: next(waiting)())
    stream = io.StringIO()
    status = follow(view, Console(file=stream, width=160, force_terminal=terminal, highlight=False))
    assert next(waiting, None) is None, "it was over too early"
    return status, stream.getvalue()


def test_a_run_is_followed_to_its_end_with_a_picture_for_each_phase(finished, going, monkeypatch):
    def ends():
        (going / NAME).unlink()
        for name in ("episodes.jsonl", "run.json"):
            shutil.copy(finished / name, going / name)

    steps = [lambda: None, lambda: now(going, "eval/1/core.counting", 4, done=2), lambda: now(going, "learner.0/0/0", 9), ends]
    status, text = looking(RunView(going), monkeypatch, *steps)
    assert status == 0
    assert text.count("eval/1/core.counting  ████░░░░░░░░░░░░  1 of 4  0.1/s  30 s left") == 1
    assert "2 of 4" not in text
    assert text.count("learner.0/0/0  ░░░░░░░░░░░░░░░░  0 of 9") == 1
    assert "score, experience arm" in text
    assert "stage 1+Harness" in text.partition("learner.0/0/0")[2]
    assert "not finished" not in text


def test_on_a_terminal_one_picture_is_drawn_over_the_last(going, monkeypatch):
    fails = lambda: change(going / "run.json", status="failed", error="\x1b[2Jboom")  # noqa: E731
    _, text = looking(RunView(going), monkeypatch, lambda: now(going, "eval/1/core.counting", 4, done=3), fails, terminal=True)
    assert "3 of 4" in text
    assert "\x1b[1A" in text
    assert "it failed: �[2Jboom" in text


def test_a_run_that_nobody_works_on_any_more_was_killed(going, monkeypatch):
    shutil.copytree(going, going.parent / "killed")
    status, text = looking(RunView(going.parent / "killed"), monkeypatch)
    assert status == 0
    assert "it was killed; the same command goes on with it" in text


def test_a_quiet_run_that_is_held_is_waited_for(going, monkeypatch):
    ends = lambda: change(going / "run.json", status="interrupted")  # noqa: E731
    _, text = looking(RunView(going), monkeypatch, *[lambda: None] * 20, ends)
    assert "status: interrupted" in text


def test_who_leaves_changes_nothing_and_is_told_so(going, monkeypatch):
    def leaves():
        raise KeyboardInterrupt

    before = {path: path.stat().st_mtime_ns for path in going.rglob("*")}
    status, text = looking(RunView(going), monkeypatch, leaves)
    assert status == 0
    assert text.endswith("no longer followed; it goes on\n")
    assert {path: path.stat().st_mtime_ns for path in going.rglob("*")} == before


def test_the_table_is_not_drawn_anew_for_progress_inside_a_phase(going, monkeypatch):
    live = LiveRun(Following(going))
    live.picture(100)
    monkeypatch.setattr(live.run, "table", lambda: pytest.fail("drawn anew"))
    now(going, "eval/1/core.counting", 4, done=3)
    assert live.refresh()
    stream = io.StringIO()
    Console(file=stream, width=100).print(live.picture(100))
    assert "3 of 4" in stream.getvalue()


def test_both_arms_of_the_phase_are_told(finished, going):
    assert "after train/0/0: 2 of 2" in doing_of(going, "train/0/0", 2, done=2, ended=True)
    shutil.copy(finished / "episodes.jsonl", going / "episodes.jsonl")
    text = doing_of(going, "eval/1/core.counting", 4, done=4, figures={"score": 1.0, "grad_norm": 0.5})
    assert "plain " in text
    assert "experience " in text
    assert "(2)" in text
    assert text.endswith("grad norm 0.5")
    (going / NAME).unlink()
    assert doing(Following(going), 0.0) == "running; last in eval/1/core.counting"


def doing_of(folder, phase, total, **fields):
    now(folder, phase, total, **fields)
    return doing(Following(folder), time.time())


def test_shares_and_spans_are_short():
    assert (bar(0.5), bar(7.0)) == ("████████░░░░░░░░", "████████████████")
    assert [span(seconds) for seconds in (9, 720, 12240)] == ["9 s", "12 min", "3.4 h"]


def test_the_most_telling_six_of_the_figures_that_change_are_drawn():
    names = ("steps", "kl", "z_a", "z_b", "reward_mean", "loss", "entropy", "grad_norm", "constant")
    lines = [{"learner": "learner.0", "name": "x", "stage": 0, "round": at, **dict.fromkeys(names, float(at))} for at in (0, 1)]
    found = figures([{**line, "constant": 3.0, "kl": -1.0 * line["kl"]} for line in lines])
    told = ["loss", "reward_mean", "kl", "entropy", "grad_norm", "z_a"]
    assert [curve.name for curve in found] == [f"learner.0 {name}" for name in told]
    assert (found[2].values, found[2].low, found[2].high) == ((0.0, -1.0), -1.0, 0.0)


def test_an_unfinished_run_says_how_to_look_on(going, capsys):
    assert main(["show", str(going)]) == 0
    assert f"look on while it goes on: xplearn show {going} --follow" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["a", "b"]])
def test_one_folder_is_followed(words, capsys):
    assert main(["show", *words, "--follow"]) == 2
    assert "looks on at one run, or one cross" in capsys.readouterr().err


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    axes = {"selector": ["core.none", "core.nearest"], "seed": [0, 1]}
    given = {"name": "x", "dir": str(tmp_path_factory.mktemp("cross")), "base": {**BASE, "stream": STREAM}, "axes": axes}
    return run_cross(given, plugins=installed()).folder


def test_a_cross_is_shown_as_its_grid_and_its_leaderboards(crossed, capsys):
    assert main(["show", str(crossed)]) == 0
    out = capsys.readouterr().out
    assert "4 cells: 4 finished" in out
    assert "Leaderboard: core.counting" in out
    assert "core.nearest+Harness" in out


def test_a_run_of_a_cross_that_is_gone_is_told_and_the_others_are_shown(crossed, tmp_path, capsys):
    folder = tmp_path / "x"
    shutil.copytree(crossed, folder)
    gone = folder / load_cross(folder).cells[0].run
    shutil.rmtree(gone)
    assert main(["show", str(folder)]) == 0
    out = capsys.readouterr().out
    assert f"left out, as it cannot be read: {gone}" in out
    assert "core.nearest+Harness" in out


@pytest.mark.parametrize("record", ["run.json", "cross.json"])
def test_what_is_removed_while_it_is_followed_is_one_line(going, crossed, tmp_path, monkeypatch, capsys, record):
    folder = tmp_path / "x"
    shutil.copytree(going if record == "run.json" else crossed, folder)
    if record == "cross.json":
        cross = json.loads((folder / record).read_text())
        change(folder / record, cells=[{**cell, "state": "waiting"} for cell in cross["cells"]])
    monkeypatch.setattr(following.time, "sleep", lambda _: shutil.rmtree(folder))
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert main(["show", str(folder), "-f"]) == 2
    assert f"RecordError: {folder}: is gone" in capsys.readouterr().err


def test_a_cross_is_followed_with_what_its_cells_are_doing(crossed, tmp_path, monkeypatch):
    folder = tmp_path / "x"
    shutil.copytree(crossed, folder)
    raw = json.loads((folder / "cross.json").read_text())
    cells = raw["cells"]
    last = cells[-1]
    change(folder / "cross.json", cells=[*cells[:-1], {**last, "state": "running"}])
    now(folder / last["run"], "train/0/1", 2, done=1)
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ends = lambda: change(folder / "cross.json", cells=cells)  # noqa: E731
        _, text = looking(CrossView(folder), monkeypatch, lambda: None, ends)
    assert text.count("x: 4 cells: 3 finished, 1 under way") == 1
    assert f"{last['run']}: train/0/1  ████████░░░░░░░░  1 of 2" in text
    assert text.rstrip().endswith("4 cells: 4 finished")
    assert [cell.state for cell in load_cross(folder).cells] == ["finished"] * 4


def test_what_is_just_being_started_is_waited_for(crossed, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "x"
    steps = [folder.mkdir, (folder / "lock").touch, lambda: shutil.copytree(crossed, folder, dirs_exist_ok=True)]
    monkeypatch.setattr("time.sleep", lambda _: steps.pop(0)())
    assert main(["show", str(folder), "-f"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"waiting for {folder} (Ctrl-C leaves) …\n"
    assert "4 cells: 4 finished" in captured.out


def test_what_never_comes_is_waited_for_a_while_and_who_leaves_before_is_told_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("xplearn.cli.places.WAIT_SECONDS", 0.0)
    assert main(["show", str(tmp_path / "x"), "-f"]) == 2
    assert "no such folder" in capsys.readouterr().err
    monkeypatch.undo()

    def leave(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", leave)
    assert main(["show", str(tmp_path / "x"), "-f"]) == 0


def test_a_cross_that_nobody_works_on_any_more_says_so(crossed, tmp_path, monkeypatch):
    folder = tmp_path / "x"
    shutil.copytree(crossed, folder)
    cells = json.loads((folder / "cross.json").read_text())["cells"]
    change(folder / "cross.json", cells=[*cells[:-1], {**cells[-1], "state": "waiting"}])
    _, text = looking(CrossView(folder), monkeypatch)
    assert "no process works on this cross" in text
