import dataclasses
import json
import sys
from dataclasses import dataclass

import pytest

from xplearn.builtin.record import RecordLearner
from xplearn.builtin.toys_counting import Counting
from xplearn.cli import main
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
ENDS = "the first experience that is written from one ends the run"
NO_SIGN = "what is learned from them is no sign of what new tasks would show"
BARE = {"record": [], "selector": "core.none", "conditioner": "core.none"}

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


class Same(Other):
    """The same tasks, tested on."""

    def splits(self):
        return ("train", "test")

    def tasks(self, split):
        renamed = {"train": "test", "test": "train"}[split]
        return [dataclasses.replace(task, env="own.same", split=split) for task in super().tasks(renamed)]


@dataclass(kw_only=True)
class Taskless(RecordLearner):
    """Does not say from which task an experience is."""

    def _experience(self, *given):
        return dataclasses.replace(super()._experience(*given), task="")


@dataclass(kw_only=True)
class Merging(RecordLearner):
    """Adds what later trajectories teach to what is there, under the task of the first."""

    def learn(self, batch, agent):
        if not len(agent.store):
            return super().learn(batch[:1], agent)
        (first, *_) = agent.store
        agent.store.update(first.id, meta={"sources": [trajectory.id for trajectory in batch]})
        return {}


class Own:
    @hookimpl
    def xplearn_register(self, registry):
        for slot, name, cls in (("environment", "part", Other), ("environment", "same", Same)):
            registry.add(slot, name, f"{__name__}:{cls.__name__}")
        for name, cls in (("taskless", Taskless), ("merging", Merging)):
            registry.add("learner", name, f"{__name__}:{cls.__name__}")


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
    lines = [f"3 tasks of stream.1 are evaluated as well: {what}" for what in (ENDS, NO_SIGN)]
    assert watching.notes[:2] == run.header.warnings == lines


def test_training_on_evaluated_tasks_without_writing_the_bank_is_told_and_written_down(tmp_path, capsys):
    watching = Notes()
    stream = [{"env": "core.counting", "tasks": {"split": "test", "limit": 1}}]
    done = start(tmp_path, watching, stream=stream, **BARE)
    lines = [f"1 task of stream.0 is evaluated as well: {NO_SIGN}"]
    assert watching.notes == done.header.warnings == load(done.folder).header.warnings == lines
    assert main(["show", str(done.folder)]) == 0
    assert f"warning: {lines[0]}" in " ".join(capsys.readouterr().out.split())


def test_where_nothing_is_learned_evaluated_tasks_may_be_played(tmp_path):
    stream = [{"env": "core.counting", "tasks": {"split": "test", "limit": 3}}]
    done = start(tmp_path, stream=stream, **{**BARE, "learner": []})
    assert done.header.warnings == []
    assert "warnings" not in json.loads((done.folder / "run.json").read_text())


def test_a_check_tells_it_too(capsys):
    stream = "stream=[{env: core.counting, tasks: {split: test, limit: 2}}]"
    assert main(["check", stream, "policy=core.scripted", "record=core.record"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"warning: 2 tasks of stream.0 are evaluated as well: {ENDS}" in lines
    assert lines[-1].startswith("sound")


@pytest.mark.parametrize("writer", ["own.taskless", "own.merging"])
def test_whoever_hides_the_task_is_found_by_the_trajectories(tmp_path, writer):
    stream = [{"env": "core.counting", "tasks": {"limit": 2}}, {"env": "core.counting", "tasks": {"split": "test", "limit": 1}}]
    with pytest.raises(ContractError, match=r"of the bank was made from task 'test/[0-9]+', which core\.counting is evaluated on"):
        start(tmp_path, stream=stream, record=writer)


@pytest.mark.parametrize(
    "fields",
    [
        {"task": "", "source": "train/0/0/test/0/plain/0"},
        {"task": "train/0", "source": "train/0/0/train/0/plain/0", "meta": {"sources": ["shown/0/test/0/plain/0"]}},
        {"task": "", "source": "eval/1/core.counting/test/0/experience/3"},
    ],
)
def test_a_bank_from_elsewhere_is_judged_by_its_trajectories_too(tmp_path, fields):
    with pytest.raises(RecordError, match=r"made from task 'test/0', which core\.counting is evaluated on"):
        start(tmp_path, store=bank(tmp_path, **fields))


def test_a_task_of_two_environments_of_one_plugin_is_one_where_it_asks_the_same(tmp_path):
    warm = {"tasks": {"split": "train", "limit": 2}, "warmup": True, "record": True}
    evaluate = {"tasks": {"split": "test", "limit": 6}, "resamples": 100}
    with pytest.raises(ContractError, match=r"made from task 'test/0', which own\.same is evaluated on"):
        start(tmp_path, stream=[{"env": "own.part", **warm}, {"env": "own.same", "tasks": {"limit": 2}}], evaluate=evaluate)


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
    done = start(tmp_path, stream=both, store=store, evaluate=only)
    assert done.header.warnings[0].startswith("1 of the bank's 1 entries come from elsewhere and name tasks that are evaluated")
    with pytest.raises(RecordError, match=r"task 'test/0', which core.counting"):
        start(tmp_path, store=store)


def test_entries_without_a_source_task_are_told_when_the_run_begins(tmp_path):
    watching = Notes()
    start(tmp_path, watching, store=bank(tmp_path, task=""))
    assert watching.notes == ["1 of the bank's 1 entries name no source task: whether they come from evaluated tasks cannot be checked"]


class Stopping(Notes):
    """Somebody presses Ctrl-C once the last phase begins."""

    def phase_start(self, name, total):
        if name.startswith("eval/1"):
            raise KeyboardInterrupt


def test_what_is_not_known_of_the_bank_stands_in_the_header_as_the_run_began_though_it_was_interrupted(tmp_path):
    mix = {"store": bank(tmp_path, task=""), "record": "own.taskless"}
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path, Stopping(), **mix)
    watching = Notes()
    done = start(tmp_path, watching, **mix)
    assert len(watching.notes) == 1
    assert "of the bank's 4 entries name no source task" in watching.notes[0]
    assert done.header.warnings == [
        "1 of the bank's 1 entries name no source task: whether they come from evaluated tasks cannot be checked"
    ]
