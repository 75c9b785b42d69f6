import dataclasses
import sys

import pytest

from xplearn.builtin.toys_counting import Counting
from xplearn.config import load_experiment
from xplearn.errors import ContractError, RecordError
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.record.reader import load
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.dial import dial_plugins

PLUGINS = None

MIX = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 3}}],
    "policy": "dial.policy",
    "selector": "core.bm25",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": "dial.turn",
    "evaluate": {"tasks": {"limit": 3, "split": "test"}, "resamples": 100},
}


class Other(Counting):
    """Trains on tasks that are called as those ``core.counting`` tests on."""

    def tasks(self, split):
        names = {"train": "test", "test": "other"}
        return [dataclasses.replace(task, id=f"{names[split]}/{n}", env="own.part") for n, task in enumerate(super().tasks(split))]

    def reset(self, task, *, seed):
        return super().reset(dataclasses.replace(task, env="core.counting"), seed=seed)


class Own:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("environment", "part", f"{__name__}:Other")


class Notes(Silent):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.fixture(autouse=True)
def plugins(monkeypatch):
    plugins = dial_plugins()
    plugins.add("own", Own())
    monkeypatch.setattr("xplearn.rollout.pool.installed", lambda: plugins)
    monkeypatch.setattr(sys.modules[__name__], "PLUGINS", plugins)


def start(tmp_path, observer=None, **changes):
    experiment, given = load_experiment({**MIX, **changes, "run": {"dir": str(tmp_path / "runs")}}, [], PLUGINS.registry)
    return run_experiment(experiment, plugins=PLUGINS, given=given, observer=observer)


def bank(tmp_path, **fields):
    """A bank file with one entry."""
    store = SqliteStore(path=str(tmp_path / "bank.sqlite"))
    store.add([dataclasses.replace(samples.experience(1), **fields)])
    store.close()
    return {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}


def test_a_bank_made_from_an_evaluated_task_is_refused_before_anything_is_played(tmp_path):
    with pytest.raises(
        RecordError, match=r"'experience-1' of the bank was made from task 'test/0', which core.counting is evaluated on; choose"
    ):
        start(tmp_path, store=bank(tmp_path, task="test/0", source="eval/of/another/run"))
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_learner_that_writes_one_ends_the_run_with_nothing_evaluated_and_nothing_lost(tmp_path):
    watching = Notes()
    stream = [{"env": "core.counting", "tasks": {"limit": 2}}, {"env": "core.counting", "tasks": {"split": "test", "limit": 6}}]
    for _ in range(2):
        with pytest.raises(ContractError, match=r"core.record: .*and 2 more of the bank .*record.0/1/0 is undone"):
            start(tmp_path, watching, stream=stream)
        (folder,) = (tmp_path / "runs").iterdir()
        run = load(folder)
        assert run.header.status == "failed"
        assert "is evaluated on" in run.header.error
        assert run.phases() == ["train/0/0", "eval/0/core.counting", "eval/1/core.counting", "train/1/0"], "played once, and kept"
        assert {note.stage for note in run.history()} == {0}
    assert watching.notes[0] == "3 tasks of stream.1 are evaluated as well: the first experience that is written from one ends the run"


def test_training_on_evaluated_tasks_without_writing_the_bank_is_no_matter_of_the_bank(tmp_path):
    stream = [{"env": "core.counting", "tasks": {"split": "test", "limit": 3}}]
    assert start(tmp_path, stream=stream, record=[], selector="core.none", conditioner="core.none").table.rows


def test_tasks_of_another_environment_may_be_called_the_same(tmp_path):
    stream = [{"env": "own.part", "tasks": {"limit": 3}}, {"env": "core.counting", "tasks": {"limit": 3}}]
    run = load(
        start(
            tmp_path,
            stream=stream,
            evaluate={"tasks": {"split": "test", "ids": [f"{name}/{n}" for name in ("test", "other") for n in range(3)]}, "resamples": 100},
        ).folder
    )
    assert {note.facts["task"] for note in run.history() if note.stage == 0} & {"test/0"}


def test_an_entry_from_elsewhere_is_not_refused_where_another_environment_trains_on_that_id(tmp_path):
    store, only = bank(tmp_path, task="test/0"), {"tasks": {"split": "test", "ids": ["test/0", "other/1"]}, "resamples": 100}
    both = [{"env": "own.part", "tasks": {"limit": 6}}, {"env": "core.counting", "tasks": {"limit": 3}}]
    assert start(tmp_path, stream=both, store=store, evaluate=only).table.rows
    with pytest.raises(RecordError, match=r"task 'test/0', which core.counting"):
        start(tmp_path, store=store)


def test_entries_without_a_source_task_are_told_when_the_run_begins(tmp_path):
    watching = Notes()
    start(tmp_path, watching, store=bank(tmp_path, task=""))
    assert watching.notes == ["1 of the bank's 1 entries name no source task: whether they come from evaluated tasks cannot be checked"]
