"""``xplearn show`` for many runs: each in short, and side by side those that may stand in one table."""

from __future__ import annotations

import json
import shutil

import pytest

import xplearn
from xplearn.cli import main
from xplearn.record.comparable import alike
from xplearn.record.reader import load

ERRANDS = {"env": "core.errands", "tasks": {"limit": 2}}
COUNTING = {"env": "core.counting", "tasks": {"limit": 2}}
CONFIG = {
    "policy": "core.random",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"limit": 3}, "resamples": 100},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs on the same tasks, and one of another kind on others."""
    root = tmp_path_factory.mktemp("w") / "runs"
    xplearn.run(CONFIG, stream=[ERRANDS, COUNTING, COUNTING], run__dir=str(root), run__name="a")
    xplearn.run(CONFIG, stream=[{**ERRANDS, "warmup": True}, COUNTING, ERRANDS], run__dir=str(root), run__name="b")
    alone = {"selector": "core.none", "conditioner": "core.none", "record": []}
    xplearn.run(CONFIG | alone, stream=[COUNTING], evaluate__tasks__limit=2, run__dir=str(root), run__name="c", run__seed=7)
    return root


def shown(capsys, *words):
    status = main(["show", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out.splitlines(), captured.err


def named(root, name):
    return next(root.glob(f"{name}-*"))


def scored(root, name, arm):
    return f"{load(named(root, name)).matrix(arm).figures()['final'].mean:.1f}"


def test_a_run_that_failed_says_why(runs, tmp_path, capsys):
    folder = shutil.copytree(named(runs, "a"), tmp_path / "a:x:")
    header = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**header, "status": "failed", "error": "\x1b[2Jno disk"}))
    _, lines, _ = shown(capsys, folder)
    assert lines[0].startswith("a:x:: core.random")
    assert lines[-1].endswith("; the same command goes on with it; it failed: �[2Jno disk")


def test_every_run_is_told_by_its_method_its_stream_and_how_it_ended(runs, capsys, monkeypatch):
    monkeypatch.chdir(runs.parent)
    status, lines, _ = shown(capsys)
    names = [named(runs, name).relative_to(runs.parent) for name in "abc"]
    score = [f"{scored(runs, name, 'plain')}, {scored(runs, name, 'experience')} with the bank" for name in "ab"]
    assert (status, lines[:4]) == (
        0,
        [
            f"{names[0]}  finished, score {score[0]}",
            "    core.random, no learner, core.nearest + core.prompt; core.errands → core.counting × 2; seed 0",
            f"{names[1]}  finished, score {score[1]}",
            "    core.random, no learner, core.nearest + core.prompt; core.counting → core.errands; seed 0",
        ],
    )
    assert lines[4].startswith(f"{names[2]}  finished, score ")
    assert "with the bank" not in lines[4]
    assert lines[5] == "    core.random, no learner, core.none + core.none; core.counting; seed 7"


def test_runs_that_do_not_all_match_are_compared_as_far_as_they_do(runs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    status, lines, _ = shown(capsys, runs)
    assert status == 0
    assert lines[0].startswith(f"not all of these runs can stand in one table: {named(runs, 'c')}: its panel of 'core.counting' is ")
    assert lines[2] == "2 runs on core.errands (3 tasks), core.counting (3 tasks)"
    table, rest = lines[: lines.index("without a match:")], lines[lines.index("without a match:") + 1 :]
    assert {"a after 3 core.counting", "b after 2 core.errands"} <= {line.split("   ")[0].strip() for line in table}
    assert [line.split("  ")[0] for line in rest] == [str(named(runs, "c")), ""]


def test_two_runs_that_do_not_match_are_an_error_after_what_they_are(runs, capsys):
    status, lines, error = shown(capsys, named(runs, "a"), named(runs, "c"))
    assert (status, lines[0], len(lines)) == (2, "no two of these runs match:", 5)
    assert "must not stand in one table" in error


def test_a_group_matches_as_a_whole(runs):
    a, b, c = (load(named(runs, name)) for name in "abc")
    assert [len(group) for group in alike([a, c, b])[0]] == [2, 1]
    groups, reason = alike([a, b])
    assert (groups, reason) == ([[a, b]], None)
    b.header.environments["core.counting"] = "other"
    groups, reason = alike([a, b])
    assert len(groups) == 2
    assert "environment version" in str(reason)


def test_what_learns_is_told_with_what_it_studies_and_a_run_that_goes_on_with_its_episodes(runs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "runs" / "killed"
    place.mkdir(parents=True)
    raw = json.loads((named(runs, "c") / "run.json").read_text())
    raw["parts"] |= {"learner.0": {"name": "core.clone"}, "curriculum": {"name": "hamo.coverage"}}
    raw["parts"]["policy"] = {"name": "core.hf", "model": "smollm2"}
    (place / "run.json").write_text(json.dumps(raw | {"status": "interrupted", "panels": {}}))
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    status, lines, _ = shown(capsys)
    assert status == 0
    assert lines[0].startswith("runs/broken  cannot be read: ")
    assert lines[1:] == [
        "runs/killed  interrupted, 0 episodes so far",
        "    core.hf smollm2, core.clone on what hamo.coverage chooses, core.none + core.none; core.counting; seed 7",
    ]


def test_a_run_among_several_that_cannot_be_read_is_told_and_left_out(runs, tmp_path, capsys):
    for name in ("a", "b", "c"):
        shutil.copytree(named(runs, name), tmp_path / "all" / "inner" / name)
    (tmp_path / "all" / "inner" / "c" / "run.json").write_text("{")
    status, lines, _ = shown(capsys, tmp_path / "all")
    assert status == 0
    assert lines[0].startswith(f"left out, as it cannot be read: {tmp_path / 'all' / 'inner' / 'c'}")
    assert any(line.strip().startswith("a after 1") for line in lines)


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_folder_that_is_not_there_is_answered_with_the_nearest_beside_it(runs, capsys, monkeypatch, command):
    there = named(runs, "b")
    wrong = there.with_name(f"{there.name}0")
    assert main([command, str(wrong)]) == 2
    assert capsys.readouterr().err == f"RecordError: {wrong}: no such folder; did you mean '{there}'?\n"
    monkeypatch.chdir(runs.parent)
    assert main([command, there.name[:-1]]) == 2
    assert f"did you mean 'runs/{there.name}'?" in capsys.readouterr().err
    assert main([command, "nothing/like/it"]) == 2
    assert capsys.readouterr().err == "RecordError: nothing/like/it: no such folder\n"


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_file_is_answered_with_the_folder_of_its_run(runs, capsys, command):
    run = named(runs, "a")
    for file in (run / "run.json", next(run.glob("trajectories/train/**/*.jsonl"))):
        assert main([command, str(file)]) == 2
        assert capsys.readouterr().err == f"RecordError: {file}: is a file; name its folder: xplearn {command} {run}\n"


def test_the_only_run_of_a_folder_must_be_readable(runs, tmp_path, capsys):
    shutil.copytree(named(runs, "a"), tmp_path / "a")
    assert shown(capsys, tmp_path)[0] == 0
    (tmp_path / "a" / "run.json").write_text("{")
    status, _, error = shown(capsys, tmp_path)
    assert status == 2
    assert "damaged" in error


@pytest.mark.parametrize("command", ["show", "report"])
def test_a_file_of_no_run_is_answered_with_what_is_wanted(tmp_path, capsys, command):
    (tmp_path / "afile").touch()
    assert main([command, str(tmp_path / "afile")]) == 2
    assert "is a file; give the folder that 'xplearn run' or 'xplearn cross' made" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "report"])
def test_what_a_star_takes_along_beside_the_runs_of_a_cross_is_left_out(runs, tmp_path, capsys, monkeypatch, command):
    shutil.copytree(named(runs, "a"), tmp_path / "x" / "a")
    for folder in ("report", "shared"):
        (tmp_path / "x" / folder).mkdir()
    for file in ("cross.json", "lock"):
        (tmp_path / "x" / file).touch()
    monkeypatch.chdir(tmp_path)
    assert main([command, *map(str, sorted(tmp_path.glob("x/*")))]) == 0
    assert main([command, str(tmp_path / "x" / "report")]) == 2
    assert main([command, str(tmp_path / "x" / "gone"), str(tmp_path / "x" / "a")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_what_cannot_be_written_is_one_line_that_says_why(runs, tmp_path, capsys):
    (tmp_path / "afile").touch()
    run, file = str(named(runs, "a")), tmp_path / "afile"
    for words in (["report", run, "--to", f"{file}"], ["report", run, "--to", f"{file}/x"], ["bank", "export", run, f"{file}/bank.jsonl"]):
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"'{file}' is a file, no folder" in line
    assert main(["report", run, "--to", f"{tmp_path}/{'x' * 300}"]) == 2
    assert "File name too long; nothing was changed there" in capsys.readouterr().err
