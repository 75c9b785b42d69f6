"""Trackers: named by a run, built before it begins, told what the hooks tell, and unable to change anything."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import ClassVar

import pytest

from xplearn.config import load_experiment
from xplearn.errors import ConfigError, PluginError
from xplearn.experiment.opening import check_tasks
from xplearn.experiment.run import run_experiment
from xplearn.experiment.tracking import offered, trackers
from xplearn.hookspecs import hookimpl
from xplearn.plugins import Plugins

MIX = {
    "stream": [{"env": "core.errands", "tasks": {"limit": 2}}],
    "policy": "core.random",
    "sampling": {"choices": "admissible"},
    "record": "core.record",
    "evaluate": {"tasks": {"limit": 2}},
}


class Diary:
    """A tracker that writes down what it was told."""

    lines: ClassVar[list[tuple[object, ...]]] = []

    def run_start(self, folder, config):
        self.lines.append(("start", config["run"]["name"]))

    def episode_end(self, result):
        self.lines.append(("episode", result.phase))

    def learn_end(self, stage, round, learner, scalars):
        self.lines.append(("learned", stage, round, learner))

    def run_end(self, folder, status):
        self.lines.append(("end", status))


class Clumsy(Diary):
    """A tracker that fails whatever it is told."""

    def _fail(self, *args, **arguments):
        raise OSError("the disk is full")

    run_start = episode_end = learn_end = run_end = _fail


class Partial:
    """A tracker that lacks a method."""

    def run_start(self, folder, config): ...


class Lacking(Diary):
    """A tracker without its package."""

    def __init__(self):
        raise PluginError("mine", "tracker 'mine.lacking' needs 'lack': pip install 'mine[lack]'")


@pytest.fixture
def plugins(monkeypatch):
    module = types.ModuleType("mine_trackers")
    module.Diary, module.Clumsy, module.Partial, module.Lacking = Diary, Clumsy, Partial, Lacking
    monkeypatch.setitem(sys.modules, "mine_trackers", module)
    monkeypatch.setattr(Diary, "lines", [])

    class Mine:
        @hookimpl
        def xplearn_trackers(self):
            names = ("diary", "clumsy", "partial", "lacking", "gone")
            return {name: f"mine_trackers:{name.capitalize()}" for name in names}

    plugins = Plugins()
    from xplearn import builtin

    plugins.add("core", builtin)
    plugins.add("mine", Mine())
    return plugins


class Notes:
    """Keeps what a person would have been told."""

    def __init__(self):
        self.notes = []

    def phase_start(self, name, total): ...
    def advance(self, n=1, **figures): ...
    def phase_end(self): ...
    def note(self, text):
        self.notes.append(text)


def start(plugins, where: Path, track: list[str], observer=None):
    experiment, given = load_experiment({**MIX, "run": {"dir": str(where), "track": track}}, [], plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given, observer=observer)


def test_tracker_is_told_what_the_hooks_tell(plugins, tmp_path):
    start(plugins, tmp_path, ["mine.diary"])
    assert Diary.lines[0] == ("start", "run")
    assert ("learned", 0, 0, "core.record") in Diary.lines
    assert ("episode", "eval/0/core.errands") in Diary.lines
    assert Diary.lines[-1] == ("end", "finished")


def test_installed_is_not_enabled(plugins, tmp_path):
    start(plugins, tmp_path, [])
    assert Diary.lines == []


def test_tracker_changes_neither_the_folder_nor_the_result(plugins, tmp_path):
    bare, tracked = start(plugins, tmp_path / "a", []), start(plugins, tmp_path / "b", ["mine.diary"])
    assert bare.folder.name == tracked.folder.name
    assert [row.score for row in bare.table.rows] == [row.score for row in tracked.table.rows]


def test_tracker_that_fails_is_told_once_and_changes_nothing(plugins, tmp_path):
    observer = Notes()
    assert start(plugins, tmp_path, ["mine.clumsy", "mine.diary"], observer).header.status == "finished"
    told = [note for note in observer.notes if "mine.clumsy" in note]
    assert len(told) == 1
    assert "the disk is full" in told[0]
    assert Diary.lines[-1] == ("end", "finished")


def test_tracker_that_lacks_a_method_is_told_once_and_changes_nothing(plugins, tmp_path):
    observer = Notes()
    assert start(plugins, tmp_path, ["mine.partial"], observer).header.status == "finished"
    told = [note for note in observer.notes if "mine.partial" in note]
    assert len(told) == 1
    assert "episode_end" in told[0] or "learn_end" in told[0]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("mine.diarry", ConfigError, r"run\.track\.0: no tracker .* 'mine\.diarry'; did you mean 'mine\.diary'\? \(known: mine\.clumsy"),
        ("mine.lacking", PluginError, r"pip install 'mine\[lack\]'"),
        ("mine.gone", PluginError, r"tracker 'mine\.gone' cannot be loaded from mine_trackers:Gone"),
    ],
)
def test_tracker_that_cannot_work_is_refused_before_anything_is_written(plugins, tmp_path, name, kind, message):
    with pytest.raises(kind, match=message):
        start(plugins, tmp_path / "runs", [name])
    assert not (tmp_path / "runs").exists()
    experiment, _ = load_experiment({**MIX, "run": {"track": [name]}}, [], plugins.registry)
    with pytest.raises(kind, match=message):
        check_tasks(experiment, plugins)


def test_tracker_that_no_plugin_offers_is_refused_also_where_the_run_is_finished(plugins, tmp_path):
    start(plugins, tmp_path, [])
    with pytest.raises(ConfigError, match=r"run\.track\.0: .* did you mean 'mine\.diary'"):
        start(plugins, tmp_path, ["mine.diarry"])
    assert start(plugins, tmp_path, ["mine.lacking"]).header.status == "finished"


def test_without_any_tracker_the_error_says_what_to_install():
    with pytest.raises(ConfigError, match="pip install xplearn-trackers"):
        trackers(["trackers.wandb"], Plugins())


def test_plugin_whose_trackers_fail_is_remembered_and_the_others_are_offered(plugins):
    class Broken:
        @hookimpl
        def xplearn_trackers(self):
            raise RuntimeError("no list")

    plugins.add("broken", Broken())
    assert "mine.diary" in offered(plugins)
    assert "no list" in str(plugins.registry.failures["broken"])
    with pytest.raises(PluginError, match="no list"):
        trackers(["broken.any"], plugins)
