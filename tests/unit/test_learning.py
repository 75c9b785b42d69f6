"""The curves of a run by round."""

import io
import json
import shutil

import pytest
from rich.console import Console

import xplearn
from xplearn.config import load_experiment
from xplearn.errors import RecordError
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.metrics.rounds import Round
from xplearn.record.reader import load
from xplearn.report.curve import MOST_BARS, spark
from xplearn.report.learning import curves, demonstrations, lines, render, rounds
from xplearn.testing.dial import dial_plugins


def at(number, plain=None, experience=None, *, told=None, bank=None):
    scores = {arm: value for arm, value in (("plain", plain), ("experience", experience)) if value is not None}
    return Round(place=(0, number), scores=scores, gain_mean=told, bank=bank)


def test_blocks_stand_between_two_bounds_and_a_dot_for_what_is_unknown():
    assert spark([0.0, None, 5.0, 10.0], low=0.0, high=10.0) == "▁·▅█"
    assert spark([-10.0, 0.0, 10.0], low=-10.0, high=10.0) == "▁▅█"
    assert spark([3.0, 3.0], low=3.0, high=3.0) == "▁▁"


def test_neighbours_are_averaged_where_bars_do_not_fit():
    assert spark([0, 10, 10, 10, None, 10], low=0, high=10, count=3) == "▅██"
    assert len(spark([1.0] * 1000, low=0, high=1)) == MOST_BARS


def test_both_arms_are_drawn_on_one_scale_and_gains_may_be_negative():
    found = lines(curves([at(0, 20.0, 40.0, bank=4), at(1, 30.0, 40.0, told=0.125), at(2, 50.0, 40.0, told=-0.25, bank=12)]), 100)
    assert found == [
        "score, plain arm           20.0 → 50.0  ▄▅█",
        "score, experience arm      40.0 → 40.0  ▇▇▇",
        "gain                     +20.0 → -10.0  █▆▁",
        "gain_mean              +0.125 → -0.250  ·█▁",
        "bank                            4 → 12  ▃·█",
    ]


def test_figures_that_no_round_has_are_left_out():
    assert [curve.name for curve in curves([at(0, 20.0), at(1, 30.0)])] == ["score, plain arm"]
    assert curves([at(0), at(1)]) == []


STREAM = [{"env": "core.counting", "tasks": {"limit": 4}, "rounds": 4}]
DIAL = {
    "policy": "dial.policy",
    "selector": "core.bm25",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": {"name": "dial.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 2, "split": "test"}, "resamples": 100},
}


def start(tmp_path, observer=None, **changes):
    plugins = dial_plugins()
    experiment, given = load_experiment({"stream": STREAM, **DIAL, **changes, "run": {"dir": str(tmp_path)}}, [], plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given, observer=observer).folder


def shown(run, width=100):
    stream = io.StringIO()
    render(run, list(run.episodes()), Console(file=stream, width=width))
    return stream.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return start(tmp_path_factory.mktemp("rounds"))


@pytest.mark.parametrize("width", [60, 200])
def test_a_run_of_four_rounds_shows_its_curves_whatever_the_width(folder, width):
    text = shown(load(folder), width)
    assert max(map(len, text.splitlines())) <= width
    assert text.splitlines()[0] == "4 rounds"
    assert [line.split("  ")[0] for line in text.splitlines()[1:5]] == ["score, plain arm", "score, experience arm", "gain", "bank"]
    assert "8 → 32" in text


def test_two_rounds_make_no_curve_and_rounds_of_several_stages_do(tmp_path):
    assert shown(load(start(tmp_path / "two", stream=[{**STREAM[0], "rounds": 2}]))) == ""
    text = shown(load(start(tmp_path / "many", stream=[{**STREAM[0], "rounds": 2}, {**STREAM[0], "rounds": 1}])))
    assert text.startswith("3 rounds of 2 stages\n")


class Stopping(Silent):
    """Ctrl-C when a phase begins."""

    def phase_start(self, name, total):
        if name == "train/0/3":
            raise KeyboardInterrupt


def test_the_curves_grow_while_a_run_goes_on(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path, Stopping())
    text = shown(load(next(path for path in tmp_path.iterdir() if (path / "run.json").exists())))
    assert text.startswith("3 rounds\n")


def test_warm_up_and_the_experts_score_are_no_rounds_of_learning(tmp_path):
    stream = [{**STREAM[0], "rounds": 3, "warmup": True}, STREAM[0]]
    run = load(start(tmp_path / "warm", stream=stream))
    assert {found.place[0] for found in rounds(run, list(run.episodes()))} == {1}
    run = load(start(tmp_path / "shown", learner={"name": "dial.turn", "source": "demonstration"}))
    assert demonstrations(run, run.episodes()) == {"train/0/0"}
    assert all(not found.scores for found in rounds(run, list(run.episodes())))


def test_a_run_recorded_before_calls_and_history_were_still_shows(folder, tmp_path):
    folder = shutil.copytree(folder, tmp_path / "older")
    (folder / "history.jsonl").unlink(missing_ok=True)
    told = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    older = [{name: value for name, value in line.items() if name not in ("number", "call")} for line in told]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in older))
    assert "8 → 32" in shown(xplearn.load(folder))


def test_a_damaged_trajectory_is_told(folder, tmp_path):
    folder = shutil.copytree(folder, tmp_path / "damaged")
    (folder / "trajectories" / "train" / "0" / "0.jsonl").write_text("{\n")
    with pytest.raises(RecordError, match="line 1 is damaged"):
        shown(load(folder))
