"""What a run recorded is what inspect_ai reads back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="needs inspect_ai: pip install xplearn-inspect")

from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample
from xplearn_inspect.export import export, folder_name

import xplearn


@pytest.fixture(scope="module")
def logs(folder, tmp_path_factory):
    target = tmp_path_factory.mktemp("logs")
    return [read_eval_log(str(path)) for path, _ in export(folder, target)]


def inspect(*args, cwd):
    environment = {**os.environ, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "inspect_ai", *args]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_every_evaluated_episode_is_a_sample_with_its_score(folder, logs):
    recorded = {result.id: result for result in xplearn.load(folder).episodes() if result.phase.startswith("eval/")}
    found = {}
    for log in logs:
        point, arm = log.eval.task_args["point"], log.eval.task_args["arm"]
        for sample in log.samples:
            found[f"eval/{point}/{log.eval.task}/{sample.id}/{arm}/{sample.epoch - 1}"] = sample
    assert found.keys() == recorded.keys()
    assert len(found) == 48
    for id, sample in found.items():
        assert sample.scores["score"].value == recorded[id].score
        assert sample.scores["success"].value == ("C" if recorded[id].success else "I")
        assert sample.metadata["seed"] == recorded[id].seed
        assert sample.total_time == recorded[id].seconds
    assert len({sample.scores["score"].value for sample in found.values()}) > 1


def test_log_says_what_was_evaluated(folder, logs):
    header = xplearn.load(folder).header
    assert Counter((log.eval.task, log.eval.task_args["arm"]) for log in logs) == {
        (domain, arm): 2 for domain in ("core.errands", "core.counting") for arm in ("plain", "experience")
    }
    log = next(log for log in logs if log.eval.task == "core.counting" and log.eval.task_args["arm"] == "experience")
    assert log.status == "success"
    assert log.eval.model == "core.random"
    assert log.eval.config.epochs == 2
    assert log.eval.dataset.samples == 3
    assert log.eval.task_version == "counting 1, 3 turns"
    assert log.eval.metadata["config"] == header.resolved
    assert log.eval.metadata["bank"] == header.bank["0"]["before"]
    assert [step.solver for step in log.plan.steps] == ["core.nearest", "core.prompt"]


def test_results_are_those_of_the_runs_table(folder, logs):
    rows = {(row.point, row.domain, row.arm): row for row in xplearn.load(folder).table().rows}
    for log in logs:
        row = rows[log.eval.task_args["point"], log.eval.task, log.eval.task_args["arm"]]
        score, success = log.results.scores
        assert score.metrics["mean"].value == pytest.approx(row.score.mean / 100)
        assert score.metrics["high"].value == pytest.approx(row.score.high / 100)
        assert success.metrics["accuracy"].value == pytest.approx(row.success / 100)
        assert (log.results.total_samples, log.results.completed_samples) == (6, 6)


def test_conversation_is_the_one_that_the_policy_saw(folder, logs):
    told = {trajectory.id: trajectory for trajectory in xplearn.load(folder).trajectories("eval/0/core.errands")}
    log = next(log for log in logs if log.eval.task == "core.errands" and log.eval.task_args == {"point": 0, "arm": "experience"})
    for sample in log.samples:
        trajectory = told[f"eval/0/core.errands/{sample.id}/experience/{sample.epoch - 1}"]
        last = trajectory.steps[-1]
        said = [{"role": message.role, "content": message.content} for message in sample.messages]
        assert said[: len(last.conditioning.messages)] == list(last.conditioning.messages)
        assert said[-2:] == [{"role": "assistant", "content": last.completion.text}, {"role": "user", "content": trajectory.final}]
        assert [message.content for message in sample.input] == [message["content"] for message in trajectory.steps[0].query.messages]
        assert sample.metadata["experience"] == [
            {"step": 0, "id": shown.id, "kind": shown.kind, "score": score}
            for shown, score in zip(trajectory.steps[0].selection.experiences, trajectory.steps[0].selection.scores, strict=True)
        ]
        assert len(sample.metadata["experience"]) == 2
        calls = [event for event in sample.events if event.event == "model"]
        assert len(calls) == len(trajectory.steps) == sample.turn_count


def test_plain_arm_shows_no_experience(logs):
    plain = [sample for log in logs if log.eval.task_args["arm"] == "plain" for sample in log.samples]
    assert len(plain) == 24
    assert not any(sample.metadata["experience"] for sample in plain)


def test_same_run_gives_the_same_logs_again(folder, tmp_path):
    first = {path.name: read_eval_log(str(path)) for path, _ in export(folder, tmp_path)}
    again = {path.name: read_eval_log(str(path)) for path, _ in export(folder, tmp_path)}
    assert first == again
    assert len(list_eval_logs(str(tmp_path))) == len(first) == 8
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert sorted(first) == sorted(path.name for path in (tmp_path / folder.name).iterdir())


def test_the_logs_of_each_run_lie_in_a_folder_of_its_name_and_inspect_lists_them_all(folder, tmp_path):
    other = tmp_path / "ALFWorld · cards: text_coverage-2a4d52e6"
    shutil.copytree(folder, other)
    for of in (folder, other):
        list(export(of, tmp_path / "logs"))
    assert {path.name for path in (tmp_path / "logs").iterdir()} == {folder.name, "ALFWorld---cards--text_coverage-2a4d52e6"}
    listed = list_eval_logs(str(tmp_path / "logs"))
    assert len(listed) == 16
    assert {"core.counting-0-plain", "core.errands-2-experience"} < {log.task for log in listed}
    assert (folder_name(".."), folder_name("../x")) == ("run", "-x")


def test_every_log_is_a_task_of_its_own_or_the_viewer_would_hide_it(logs):
    assert len({log.eval.task_id for log in logs}) == len({log.eval.eval_id for log in logs}) == 8
    assert len({log.eval.run_id for log in logs}) == 1


def test_one_sample_can_be_read_by_its_id(folder, tmp_path):
    path, _ = next(export(folder, tmp_path))
    sample = read_eval_log_sample(str(path), id=read_eval_log(str(path)).samples[0].id, epoch=2)
    assert sample.epoch == 2


def test_unfinished_run_has_the_episodes_so_far(folder, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    header = json.loads((copy / "run.json").read_text())
    header |= {"status": "failed", "error": "the power was cut", "results": []}
    del header["bank"]["2"]
    (copy / "run.json").write_text(json.dumps(header))
    lines = (copy / "episodes.jsonl").read_text().splitlines(keepends=True)
    (copy / "episodes.jsonl").write_text("".join(lines[:-3]))
    found = [read_eval_log(str(path)) for path, _ in export(copy, tmp_path / "logs")]
    assert [log.status for log in found] == ["success"] * 4 + ["error"] * 4
    assert found[-1].error.message == "the power was cut"
    assert len(found[-1].samples) == 3
    assert (found[-1].results.total_samples, found[-1].results.completed_samples) == (6, 3)


def test_inspect_itself_dumps_and_bundles_the_logs(folder, tmp_path):
    path, count = next(export(folder, tmp_path / "logs"))
    dumped = inspect("log", "dump", str(path), cwd=tmp_path)
    assert dumped.returncode == 0, dumped.stderr
    assert len(json.loads(dumped.stdout)["samples"]) == count == 6
    bundled = inspect("view", "bundle", "--log-dir", "logs", "--output-dir", "site", cwd=tmp_path)
    assert bundled.returncode == 0, bundled.stderr
    assert (tmp_path / "site" / "index.html").is_file()
    assert [found.name for found in Path(tmp_path / "site" / "logs").glob("*/*.eval")] == [path.name]
