"""Work in common is done once: what is taken over is what would have been done, and nothing is taken over that differs."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from xplearn.config import load_experiment
from xplearn.errors import ConfigError, ContractError
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.experiment.shared import Shared
from xplearn.experiment.shared.memo import key_of
from xplearn.hookspecs import hookimpl
from xplearn.interfaces import Learner
from xplearn.record.lines import read_lines
from xplearn.record.reader import load
from xplearn.testing.dial import DialPolicy, TurnLearner, dial_plugins

BASE = {
    "stream": [
        {"env": "core.errands", "tasks": {"limit": 4}, "warmup": True},
        {"env": "core.counting", "tasks": {"limit": 4}, "rounds": 2},
    ],
    "policy": "dial.policy",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "warmup": {"name": "dial.turn", "source": "demonstration"},
    "learner": {"name": "dial.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 3, "split": "test"}, "resamples": 100},
    "sampling": {"temperature": 1.0},
}


class Watching(Silent):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


class Counting:
    """The plugin ``dial``, its policy and learner counted."""

    played, taught = 0, 0


class CountedPolicy(DialPolicy):
    def generate(self, conditionings, *rest):
        Counting.played += len(conditionings)
        return super().generate(conditionings, *rest)


class CountedLearner(TurnLearner):
    def learn(self, batch, agent):
        Counting.taught += 1
        return super().learn(batch, agent)


class CountedPlugin:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("policy", "policy", f"{__name__}:CountedPolicy")
        registry.add("learner", "turn", f"{__name__}:CountedLearner")
        registry.add("learner", "peek", f"{__name__}:PeekingLearner")


class PeekingLearner(CountedLearner):
    """Reads what is shown to the policy."""

    def learn(self, batch, agent):
        agent.condition([], [])
        return super().learn(batch, agent)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or __import__(__name__))
    Counting.played = Counting.taught = 0


def start(folder, shared=None, **changes):
    """Run the base with changes; what was played and taught for it, and the notes."""
    from xplearn.plugins import Plugins

    plugins = Plugins().discover()
    plugins.add("own", CountedPlugin())
    mix = json.loads(json.dumps({**BASE, **changes}).replace("dial.", "own."))
    experiment, given = load_experiment({**mix, "run": {"dir": str(folder), **changes.get("run", {})}}, [], plugins.registry)
    watching, before = Watching(), (Counting.played, Counting.taught)
    result = run_experiment(experiment, plugins=plugins, given=given, observer=watching, shared=shared)
    return load(result.folder), (Counting.played - before[0], Counting.taught - before[1]), watching.notes


def outcome(run):
    """Everything that sharing must not change."""
    episodes = sorted(json.dumps(dataclasses.asdict(dataclasses.replace(found, seconds=0.0))) for found in run.episodes())
    table = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
    figures = [{**line, "call": {**line["call"], "seconds": 0.0}} for line in read_lines(run.path / "metrics.jsonl", json.loads)]
    texts = {path.relative_to(run.path).as_posix(): path.read_text() for path in sorted(run.path.glob("study/*"))}
    return episodes, table, figures, (run.path / "history.jsonl").read_text(), texts, run.header.bank, trajectories(run), kept(run)


def trajectories(run):
    found = {}
    for path in sorted(run.path.glob("trajectories/**/*.jsonl")):
        lines = sorted(json.dumps({**json.loads(line), "seconds": 0.0}) for line in path.read_text().splitlines())
        found[path.relative_to(run.path).as_posix()] = lines
    return found


def kept(run):
    """The checkpoints that are kept, but for how often the bank was written to, which a resumed run forgets as well."""
    found = {}
    for path in sorted(run.path.glob("checkpoints/*/**/*.json")):
        raw = json.loads(path.read_text())
        found[path.relative_to(run.path).as_posix()] = {**raw, "bank_version": 0} if isinstance(raw, dict) else raw
    return found


def test_a_run_is_the_same_whether_it_shares_finds_or_does_everything(tmp_path):
    alone, work, _ = start(tmp_path / "alone")
    first, filled, _ = start(tmp_path / "first", Shared(tmp_path / "shared", least_seconds=0.0))
    second, found, notes = start(tmp_path / "second", Shared(tmp_path / "shared", least_seconds=0.0))
    assert outcome(first) == outcome(alone)
    assert outcome(second) == outcome(alone)
    assert work[0] >= filled[0] > 0
    assert work[1] == filled[1] == 3
    assert found == (0, 0)
    assert notes == ["done before and not again: 4 demonstrations, 28 episodes, 5 learner calls"]
