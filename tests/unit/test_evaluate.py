import contextlib
import dataclasses
from dataclasses import dataclass

import pytest

from xplearn.builtin.conditioners import PromptConditioner
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, ContractError
from xplearn.experiment.evaluate import arms, evaluate, panels
from xplearn.experiment.observer import Silent
from xplearn.experiment.opening import open_run
from xplearn.experiment.prepare import corpus
from xplearn.experiment.run import run_experiment
from xplearn.experiment.stream import domains
from xplearn.hookspecs import hookimpl
from xplearn.interfaces import Conditioner
from xplearn.record.folder import RunFolder
from xplearn.record.header import read_header
from xplearn.record.reader import load
from xplearn.testing.dial import dial_plugins
from xplearn.types import Conditioning

MIX = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 2}}, {"env": "core.errands", "tasks": {"limit": 2}}],
    "policy": "dial.policy",
    "store": "core.memory",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "evaluate": {"tasks": {"limit": 2, "split": "test"}, "replicas": 2},
}


@contextlib.contextmanager
def opened(folder, **changes):
    plugins = dial_plugins()
    experiment, given = load_experiment({**MIX, **changes}, [], plugins.registry)
    with open_run(experiment, plugins, given, RunFolder(folder), Silent()) as run:
        yield run


def test_every_domain_is_played_in_both_arms_and_the_digest_is_noted(tmp_path):
    with opened(tmp_path) as run:
        evaluate(run, 0)
        for domain in ("core.counting", "core.errands"):
            done = run.writer.done(f"eval/0/{domain}")
            assert len(done) == 2 * 2 * 2
            assert {id.split("/")[-2] for id in done} == {"plain", "experience"}
        digest = run.agent.store.digest()
        assert run.header.bank == {"0": {"before": digest, "after": digest}}
    assert read_header(tmp_path / "run.json").bank == run.header.bank


def test_arms_are_played_plain_first(tmp_path):
    with opened(tmp_path, evaluate={"arms": ["experience", "plain"]}) as run:
        assert arms(run) == ["plain", "experience"]
    with opened(tmp_path / "one", evaluate={"arms": ["experience"]}) as run:
        assert arms(run) == ["experience"]


def test_bank_that_changes_while_frozen_is_caught(tmp_path, monkeypatch):
    with opened(tmp_path) as run, monkeypatch.context() as patched:
        digests = iter(["before", "after"])
        patched.setattr(type(run.agent.store), "digest", lambda self: next(digests))
        with pytest.raises(ContractError, match=r"the bank changed while it was frozen \(digest before before, after after\)"):
            evaluate(run, 0)
        assert run.header.bank == {}


def test_kind_of_one_domain_leaves_the_other_empty(tmp_path):
    with opened(tmp_path, evaluate={"tasks": {"split": "test", "kinds": ["up"]}}) as run:
        found, versions = panels(run.experiment, domains(run.experiment), run.pools)
        assert {name: len(tasks) for name, (_, tasks) in found.items()} == {"core.counting": 10, "core.errands": 0}
        assert versions["core.counting"] == "counting 1, 5 turns"


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ({"split": "test", "skip": 99}, "leaves none of the .* tasks of split 'test'"),
        ({"split": "test", "kinds": ["upp"]}, r"no task has 'upp'; did you mean 'up'\? \(known: .*up, down.*\)"),
        ({"split": "tset"}, "evaluate.tasks.split: core.[a-z]+: no split is called 'tset'"),
    ],
)
def test_panel_without_tasks_is_refused_before_anything_is_written(tmp_path, tasks, reason):
    with pytest.raises(ConfigError, match=reason), opened(tmp_path / "run", evaluate={"tasks": tasks}):
        pass
    assert not (tmp_path / "run").exists()


def test_corpus_holds_what_the_expert_saw_and_said_in_training_tasks_alone(tmp_path):
    with opened(tmp_path) as run:
        texts = list(corpus(run))
    assert "Task: Count up from 10.\n\n10" in texts
    assert {"11", "15"} <= set(texts), "the last answer and the last observation too"
    assert not any("Count up from 410" in text for text in texts), "nothing of the test split"
    assert any(text.startswith("put down") for text in texts)


def test_corpus_of_an_environment_without_expert_is_how_its_tasks_open(tmp_path, monkeypatch):
    with opened(tmp_path) as run:
        about = run.pools.about

        def without_demos(spec):
            known = about(spec)
            return dataclasses.replace(known, provides=known.provides - {"env.demos"})

        monkeypatch.setattr(run.pools, "about", without_demos)
        texts = list(corpus(run))
    assert "Task: Count up from 10.\n\n10" in texts
    assert "11" not in texts


def test_policy_that_needs_a_corpus_is_prepared_once_and_restored_after(tmp_path, monkeypatch):
    from xplearn.testing.dial import DialPolicy

    calls = []
    monkeypatch.setattr(DialPolicy, "needs_corpus", property(lambda self: True))
    monkeypatch.setattr(DialPolicy, "prepare", lambda self, texts: calls.append(len(list(texts))) or setattr(self, "now", 66))
    with opened(tmp_path) as run:
        assert run.agent.policy.now == 66
    path = tmp_path / "run.json"
    dataclasses.replace(read_header(path), status="interrupted").write(path)
    with opened(tmp_path) as run:
        assert run.agent.policy.now == 66
    assert len(calls) == 1


@dataclass(kw_only=True)
class Deaf(Conditioner):
    """Passes over whatever was selected, as one does that finds no vectors of it."""

    provides = frozenset({"conditioner.text", "conditioner.shows"})

    def condition(self, queries, selections):
        return [Conditioning(messages=query.messages) for query in queries]


@dataclass(kw_only=True)
class HalfDeaf(PromptConditioner):
    """Shows something in one environment alone."""

    def condition(self, queries, selections):
        pairs = zip(queries, super().condition(queries, selections), strict=True)
        return [one if query.task.env == "core.errands" else Conditioning(messages=query.messages) for query, one in pairs]


class DeafPlugin:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("conditioner", "ear", f"{__name__}:Deaf")
        registry.add("conditioner", "one_ear", f"{__name__}:HalfDeaf")


@pytest.mark.parametrize(("conditioner", "reached"), [("deaf.ear", False), ("core.prompt", True)])
def test_a_bank_of_which_nothing_reaches_the_policy_is_told_and_not_recorded_as_shown(tmp_path, conditioner, reached):
    plugins = dial_plugins()
    plugins.add("deaf", DeafPlugin())
    mix = {
        "stream": [{"env": "core.errands", "tasks": {"limit": 3}}],
        "policy": "dial.policy",
        "record": "core.record",
        "selector": "core.bm25",
        "conditioner": conditioner,
        "evaluate": {"tasks": {"limit": 2, "split": "test"}, "resamples": 100},
        "run": {"dir": str(tmp_path)},
    }
    experiment, given = load_experiment(mix, [], plugins.registry)
    run = load(run_experiment(experiment, plugins=plugins, given=given).folder)
    played = [phase for phase in run.phases() if phase.startswith("eval")]
    shown = [bool(step.selection.experiences) for phase in played for found in run.trajectories(phase) for step in found.steps]
    assert any(shown) == reached
    told = [line for line in run.header.warnings if "nothing of the bank reached the policy" in line]
    assert len(told) == (not reached)
    assert all("'deaf.ear' passed over all that selector 'core.bm25' selected" in line for line in told)


class Stopping(Silent):
    """Somebody presses Ctrl-C when a phase begins."""

    def phase_start(self, name, total):
        if name == "eval/2/core.counting":
            raise KeyboardInterrupt


def test_what_reached_the_policy_before_an_interruption_counts(tmp_path):
    plugins = dial_plugins()
    plugins.add("deaf", DeafPlugin())
    mix = {
        "stream": [{"env": env, "tasks": {"limit": 3}} for env in ("core.errands", "core.counting")],
        "policy": "dial.policy",
        "record": "core.record",
        "selector": "core.bm25",
        "conditioner": "deaf.one_ear",
        "evaluate": {"tasks": {"limit": 2, "split": "test"}, "resamples": 100},
        "run": {"dir": str(tmp_path)},
    }
    experiment, given = load_experiment(mix, [], plugins.registry)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, plugins=plugins, given=given, observer=Stopping())
    assert run_experiment(experiment, plugins=plugins, given=given).header.warnings == []
