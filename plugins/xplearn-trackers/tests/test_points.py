"""Steps and names of points, and what is told when."""

from __future__ import annotations

import pytest
from xplearn_trackers.flat import flat
from xplearn_trackers.ledger import Ledger
from xplearn_trackers.points import Point, Points
from xplearn_trackers.tracker import RunTracker

from xplearn import EpisodeResult

STREAM = [{"rounds": 2, "warmup": True}, {"rounds": 3, "warmup": False}, {"rounds": 1, "warmup": False}]


def episode(phase, score, *, arm="plain", error=None):
    zeros = dict.fromkeys(("seed", "length", "tokens_in", "tokens_out", "seconds"), 0)
    names = {"env": "e", "task": "t", "kind": "", "split": "test"}
    return EpisodeResult(
        id="x", phase=phase, arm=arm, score=score, success=False, terminated=True, truncated=False, error=error, **names, **zeros
    )


def told(points, *episodes):
    return [point for result in episodes for point in points.episode(result)] + points.close()


@pytest.fixture
def points():
    return Points(STREAM, lambda phase: phase == "train/0/0")


@pytest.mark.parametrize(
    ("phase", "point"),
    [
        ("train/0/1", Point(2, "train/plain", 50.0)),
        ("eval/0/core.errands", Point(2, "eval/core.errands/plain", 50.0)),
        ("train/1/0", Point(3, "train/plain", 50.0)),
        ("eval/1/core.errands", Point(5, "eval/core.errands/plain", 50.0)),
        ("eval/2/a/b", Point(6, "eval/a/b/plain", 50.0)),
    ],
)
def test_step_is_the_number_of_rounds_behind_the_point(points, phase, point):
    assert told(points, episode(phase, 0.25), episode(phase, 0.75)) == [point]


def test_expert_and_what_was_shown_beside_rollouts_have_no_curve(points):
    assert told(points, episode("train/0/0", 1.0), episode("shown/1", 1.0)) == []


def test_mean_is_told_when_the_next_phase_begins(points):
    assert points.episode(episode("eval/0/a", 1.0)) == []
    assert points.episode(episode("eval/0/a", 0.0, arm="experience")) == []
    assert points.episode(episode("eval/0/b", 1.0)) == [Point(2, "eval/a/experience", 0.0), Point(2, "eval/a/plain", 100.0)]


def test_episode_that_died_scores_0_in_evaluation_and_is_left_out_in_training(points):
    dead = {"score": 0.0, "error": "gone"}
    assert told(points, episode("eval/0/a", 1.0), episode("eval/0/a", **dead)) == [Point(2, "eval/a/plain", 50.0)]
    assert told(points, episode("train/1/0", 1.0), episode("train/1/0", **dead)) == [Point(3, "train/plain", 100.0)]


def test_second_learner_by_one_name_is_told_apart(points):
    assert points.learned(1, 2, "core.clone", {"loss": 0.5}) == [Point(5, "core.clone/loss", 0.5)]
    assert points.learned(1, 2, "core.clone", {"loss": 0.25}) == [Point(5, "core.clone.2/loss", 0.25)]
    assert points.learned(2, 0, "core.clone", {"loss": 0.125}) == [Point(6, "core.clone/loss", 0.125)]


def test_ledger_forgets_what_a_kill_left_half_written(tmp_path):
    path = tmp_path / "trackers" / "x.jsonl"
    ledger = Ledger(path)
    assert not ledger.resumed
    ledger.add([Point(1, "a", 0.5), Point(1, "a", 0.5), Point(2, "ü", 0.5)])
    path.write_bytes(path.read_bytes() + b'[3, "b')
    again = Ledger(path)
    assert again.resumed
    assert [point in again for point in (Point(1, "a", 9.0), Point(2, "ü", 9.0), Point(3, "b", 9.0))] == [True, True, False]
    assert path.read_bytes().count(b"\n") == 2


class Stuck(RunTracker):
    """A tracker whose table cannot be sent."""

    name = "stuck"
    ended = 0

    def open(self, folder, config, *, resumed): ...

    def log(self, step, values): ...

    def table(self, rows):
        raise OSError("the network is down")

    def close(self):
        self.ended += 1


def test_tracker_is_ended_also_where_its_table_cannot_be_sent(start):
    folder = start()
    tracker = Stuck()
    tracker.run_start(str(folder), {})
    with pytest.raises(OSError, match="the network is down"):
        tracker.run_end(str(folder), "finished")
    assert tracker.ended == 1


def test_configuration_is_flat_and_every_value_is_there():
    assert flat({"a": {"b": [1, {"c": None}], "d": []}, "e": True}) == {"a.b.0": 1, "a.b.1.c": "none", "a.d": "none", "e": True}


def test_plugin_is_imported_without_any_tracker():
    import subprocess
    import sys

    code = "import sys, xplearn_trackers; assert not {'tensorboard', 'wandb', 'trackio'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["tensorboard", "trackio", "wandb"])
def test_tracker_without_its_package_says_what_to_install(name, monkeypatch, start, tmp_path):
    import sys

    from xplearn import PluginError

    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PluginError, match=rf"needs the package '{name}.*': pip install 'xplearn-trackers\[{name}\]'"):
        start(f"trackers.{name}")
    assert not (tmp_path / "runs").exists()
