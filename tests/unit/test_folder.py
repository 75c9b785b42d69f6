import contextlib
import dataclasses
import json
import resource
import subprocess
import sys
from dataclasses import replace

import pytest

from xplearn.errors import RecordError
from xplearn.metrics.scores import episode_result
from xplearn.record.folder import RunFolder, folder_name
from xplearn.record.header import FORMAT, Header, panel, read_header, require_comparable
from xplearn.record.reader import load
from xplearn.record.writer import RunWriter
from xplearn.testing.samples import task, trajectory

RESOLVED = {
    "run": {"name": "demo", "seed": 0, "dir": "runs", "batch": 8, "workers": 0, "step_seconds": 120.0, "max_steps": None},
    "stream": [{"env": {"name": "toy"}, "warmup": False}],
    "evaluate": {"confidence": 0.95, "resamples": 100},
    "learner": [],
}


def header(**changes):
    return json.dumps(dataclasses.asdict(Header(resolved=RESOLVED)) | changes)


def write(folder, *numbers, phase="train/0/0"):
    with contextlib.closing(RunWriter(folder)) as writer:
        for number in numbers:
            writer.episode(trajectory(number), episode_result(trajectory(number), phase))


def test_name_of_the_folder_depends_on_the_experiment_and_not_on_how_it_is_carried_out():
    name = folder_name(RESOLVED)
    assert name.startswith("demo-")
    assert len(name) == len("demo-") + 8
    moved = {**RESOLVED["run"], "dir": "elsewhere", "batch": 1, "workers": 2, "step_seconds": 1.0, "track": ["trackers.wandb"]}
    assert folder_name({**RESOLVED, "run": moved}) == name
    assert folder_name({**RESOLVED, "run": {**RESOLVED["run"], "seed": 1}}) != name
    assert folder_name({**RESOLVED, "learner": ["x"]}) != name


def test_recorded_episodes_come_back(tmp_path):
    folder = RunFolder(tmp_path)
    Header(resolved=RESOLVED).write(folder.header)
    write(folder, 0, 1)
    run = load(tmp_path)
    assert [result.task for result in run.episodes()] == ["boil-0", "fetch-1"]
    assert list(run.trajectories("train/0/0")) == [trajectory(0), trajectory(1)]
    assert run.phases() == ["train/0/0"]
    assert run.header.resolved == RESOLVED
    assert RunWriter(folder).done("train/0/0") == {trajectory(0).id, trajectory(1).id}
    assert RunWriter(folder).done("eval/0/toy") == frozenset()


@pytest.mark.parametrize("torn", [b'{"id": "half', b"\xff\xfe", b'{"id": "whole but unended"}'])
def test_torn_last_lines_are_dropped_and_writing_goes_on(tmp_path, torn):
    folder = RunFolder(tmp_path)
    write(folder, 0)
    for path in (folder.episodes, folder.trajectories("train/0/0"), folder.metrics):
        with path.open("ab") as file:
            file.write(torn)
    write(folder, 1)
    Header(resolved=RESOLVED).write(folder.header)
    assert [result.task for result in load(tmp_path).episodes()] == ["boil-0", "fetch-1"]
    assert list(load(tmp_path).trajectories("train/0/0")) == [trajectory(0), trajectory(1)]


def test_trajectory_whose_episode_was_never_recorded_is_dropped(tmp_path):
    folder = RunFolder(tmp_path)
    write(folder, 0, 1)
    lines = folder.episodes.read_bytes().splitlines(keepends=True)
    folder.episodes.write_bytes(lines[0])
    write(folder, 1)
    Header(resolved=RESOLVED).write(folder.header)
    assert list(load(tmp_path).trajectories("train/0/0")) == [trajectory(0), trajectory(1)]


def test_a_disk_that_fills_up_leaves_nothing_that_counts_as_recorded(tmp_path):
    folder = RunFolder(tmp_path)
    write(folder, 0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (folder.trajectories("train/0/0").stat().st_size + 50, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            write(folder, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert RunWriter(folder).done("train/0/0") == {trajectory(0).id}
    write(folder, 1)
    Header(resolved=RESOLVED).write(folder.header)
    assert list(load(tmp_path).trajectories("train/0/0")) == [trajectory(0), trajectory(1)]


def test_damage_in_the_middle_is_an_error_with_its_line(tmp_path):
    folder = RunFolder(tmp_path)
    write(folder, 0, 1)
    lines = folder.episodes.read_bytes().splitlines(keepends=True)
    folder.episodes.write_bytes(b"".join([lines[0], b"garbage\n", lines[1]]))
    with pytest.raises(RecordError, match=r"episodes.jsonl: line 2 is damaged .*start anew"):
        RunWriter(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: 3,
        lambda line: [],
        lambda line: {name: value for name, value in line.items() if name != "id"},
        lambda line: {**line, "id": ["x"]},
        lambda line: {**line, "score": float("nan")},
        lambda line: {**line, "score": "1.0"},
        lambda line: {**line, "arm": "third"},
        lambda line: {**line, "success": 1},
        lambda line: {**line, "surprise": 1},
    ],
)
def test_whole_line_of_the_wrong_shape_is_an_error_with_its_line(tmp_path, change):
    folder = RunFolder(tmp_path)
    Header(resolved=RESOLVED).write(folder.header)
    write(folder, 0, 1)
    first, second = folder.episodes.read_text().splitlines()
    folder.episodes.write_text(f"{first}\n{json.dumps(change(json.loads(second)))}\n")
    for read in (lambda: RunWriter(folder), lambda: list(load(tmp_path).episodes())):
        with pytest.raises(RecordError, match=r"episodes.jsonl: line 2 is damaged .*start anew"):
            read()


@pytest.mark.parametrize("line", ["3", "[]", "{}", '{"id": 1, "task": {}, "tables": []}'])
def test_trajectory_of_the_wrong_shape_is_an_error_with_its_line(tmp_path, line):
    folder = RunFolder(tmp_path)
    Header(resolved=RESOLVED).write(folder.header)
    write(folder, 0)
    with folder.trajectories("train/0/0").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(RecordError, match=r"jsonl: line 2 is damaged"):
        list(load(tmp_path).trajectories("train/0/0"))


@pytest.mark.parametrize("line", ["3", "[]", '{"stage": 0}'])
def test_figures_of_the_wrong_shape_are_an_error_with_their_line(tmp_path, line):
    folder = RunFolder(tmp_path)
    Header(resolved=RESOLVED).write(folder.header)
    folder.metrics.write_text(line + "\n")
    with pytest.raises(RecordError, match=r"metrics.jsonl: line 1 is damaged"):
        load(tmp_path).scalars()


def test_file_in_place_of_a_run_folder_is_no_run_folder(tmp_path):
    (tmp_path / "base.yaml").write_text("policy: x")
    with pytest.raises(RecordError, match=r"base.yaml: not a run folder"):
        load(tmp_path / "base.yaml")


@pytest.mark.parametrize("remains", ["checkpoints/000/position.json", "bank/bank.sqlite", "episodes.jsonl", "study/0-0.json"])
def test_run_that_lost_its_header_is_refused_and_kept(tmp_path, remains):
    path = tmp_path / remains
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("precious")
    folder = RunFolder(tmp_path)
    with pytest.raises(RecordError, match=r"holds remains of a run but no run\.json; put run\.json back, or remove"):
        folder.acquire()
    folder.release()
    assert path.read_text() == "precious"


def test_only_a_new_folder_is_withdrawn(tmp_path):
    for name in ("new", "old"):
        folder = RunFolder(tmp_path / name)
        if name == "old":
            folder.path.mkdir()
            Header(resolved=RESOLVED).write(folder.header)
        folder.acquire()
        Header(resolved=RESOLVED).write(folder.header)
        folder.episodes.write_text("x")
        folder.withdraw()
        folder.release()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old" / "episodes.jsonl").exists()
    assert (tmp_path / "old" / "run.json").exists()


def test_latest_figures_of_a_learner_win(tmp_path):
    folder = RunFolder(tmp_path)
    Header(resolved=RESOLVED).write(folder.header)
    writer = RunWriter(folder)
    for loss in (2.0, 1.0):
        writer.scalars({"stage": 0, "round": 0, "learner": "learner.0", "loss": loss})
    writer.close()
    assert [line["loss"] for line in load(tmp_path).scalars()] == [1.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "not a run folder"),
        ("{", "damaged"),
        ("[]", "no format number"),
        ('{"format": 1, "surprise": 2}', "does not know .surprise."),
        ('{"format": true}', "no format number"),
        ('{"format": 1}', "damaged .lacks bank, config"),
        (header(format=0), "damaged .format is 0"),
        (header(format=-5), "damaged .format is -5"),
        (header(panels=None), "damaged .panels is None"),
        (header(seed="0"), "damaged .seed is '0'"),
        (header(parts={"policy": "core.random"}), "damaged .parts is"),
        (header(results=[{"n": "12"}]), "damaged .results have no sound 'n'"),
        (header(status="asleep"), "damaged .status is 'asleep'"),
        (header(resolved=None), "damaged .resolved is None"),
        (header(resolved=[]), "damaged .resolved is "),
        (header(resolved={"run": {}}), "damaged .resolved has no sound 'run.name'"),
        (header(resolved={**RESOLVED, "stream": [{}]}), "damaged .resolved has no sound 'stream'"),
        (header(resolved={**RESOLVED, "evaluate": {"confidence": float("nan")}}), "damaged .resolved has no sound 'evaluate.confidence'"),
        (json.dumps({"format": FORMAT + 1}), f"newer xplearn .format {FORMAT + 1}, this one reads up to {FORMAT}.: pip install -U xplearn"),
    ],
)
def test_unreadable_header_is_one_line_with_the_next_step(tmp_path, text, reason):
    path = tmp_path / "run.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(RecordError, match=reason) as caught:
        read_header(path)
    assert len(str(caught.value).splitlines()) == 1


def test_header_comes_back_equal(tmp_path):
    header = Header(
        resolved=RESOLVED, bank={"0": {"before": "abc", "after": "abc"}}, status="interrupted", git={"commit": "c", "dirty": True}
    )
    header.write(tmp_path / "run.json")
    assert read_header(tmp_path / "run.json") == header


def test_second_process_is_kept_out(tmp_path):
    folder = RunFolder(tmp_path)
    folder.acquire()
    Header(resolved=RESOLVED).write(folder.header)
    script = f"from pathlib import Path; from xplearn.record.folder import RunFolder; RunFolder(Path({str(tmp_path)!r})).acquire()"
    second = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "another process is running this experiment" in second.stderr
    folder.release()
    folder.release()
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode == 0


def test_folder_in_which_nothing_began_is_removed(tmp_path):
    folder = RunFolder(tmp_path / "runs" / "x")
    folder.acquire()
    folder.bank.mkdir()
    folder.release()
    assert not folder.path.exists()


def test_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match=r"cannot be written \('.*/file' is a file, no folder\); choose another place with run.dir"):
        RunFolder(tmp_path / "file" / "run").acquire()


def test_figures_of_another_environment_version_or_panel_are_refused():
    require_comparable("runs/x", {"toy": "1"}, {"toy": "1", "new": "2"}, "environment version")
    with pytest.raises(RecordError, match=r"'toy' is 1, now it is 2: .* another run.name"):
        require_comparable("runs/x", {"toy": "1"}, {"toy": "2"}, "environment version")
    with pytest.raises(RecordError, match=r"its panel of 'toy' is tasks 1, hash a, now it is tasks 2, hash b: "):
        require_comparable("runs/x", {"toy": {"tasks": 1, "hash": "a"}}, {"toy": {"tasks": 2, "hash": "b"}}, "panel")
    assert panel([task(0), task(1)]) != panel([task(1), task(0)])
    assert panel([task(0)]) != panel([replace(task(0), split="test")])
    assert panel([task(0)])["tasks"] == 1


def test_frame_has_a_row_per_episode(tmp_path):
    pytest.importorskip("pandas")
    folder = RunFolder(tmp_path)
    Header(resolved=RESOLVED).write(folder.header)
    write(folder, 0, 1)
    assert load(tmp_path).frame()["score"].tolist() == [1.0, 0.25]
