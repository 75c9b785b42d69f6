"""Work in common is done once: what is taken over is what would have been done, and nothing is taken over that differs."""

import dataclasses
import json

import pytest

from xplearn.builtin.selectors import AllSelector
from xplearn.builtin.toys_counting import Counting
from xplearn.config import load_experiment
from xplearn.errors import ContractError
from xplearn.experiment.observer import Silent
from xplearn.experiment.run import run_experiment
from xplearn.experiment.shared import Shared
from xplearn.hookspecs import hookimpl
from xplearn.plugins import Plugins
from xplearn.record.lines import read_lines
from xplearn.record.reader import load
from xplearn.testing.dial import DialPolicy, TurnLearner
from xplearn.types import Selection

BASE = {
    "stream": [
        {"env": "core.errands", "tasks": {"limit": 4}, "warmup": True},
        {"env": "core.counting", "tasks": {"limit": 4}, "rounds": 2},
    ],
    "policy": "own.policy",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "core.record",
    "warmup": {"name": "own.turn", "source": "demonstration"},
    "learner": {"name": "own.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 2, "split": "test"}, "replicas": 2, "resamples": 100},
    "sampling": {"temperature": 1.0},
}
BARE = {"stream": [{"env": "core.counting", "tasks": {"limit": 2}}], "warmup": [], "learner": [], "record": [], "selector": "core.none"}
"""Plays and learns nothing."""
ALL = "4 demonstrations, 32 episodes, 5 learner calls"


class Watching(Silent):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


class Work:
    """Steps decided and calls made in this process."""

    steps, calls = 0, 0


class CountedPolicy(DialPolicy):
    def generate(self, conditionings, *rest):
        Work.steps += len(conditionings)
        return super().generate(conditionings, *rest)


class CountedLearner(TurnLearner):
    def learn(self, batch, agent):
        Work.calls += 1
        return super().learn(batch, agent)


class PeekingLearner(CountedLearner):
    """Reads what is shown to the policy."""

    def learn(self, batch, agent):
        agent.condition([], [])
        return super().learn(batch, agent)


class KeepingLearner(CountedLearner):
    """Keeps what it read when it was set up."""

    def setup(self, agent):
        self._kept = agent.conditioner


class IdleLearner(CountedLearner):
    """Trains, and leaves the weights as they are."""

    def learn(self, batch, agent):
        with agent.policy.training():
            return {}


class TellingLearner(CountedLearner):
    """Tells where the run is."""

    def learn(self, batch, agent):
        agent.journal.note("told", "", round=agent.position[1])
        return {"at": float(agent.position[1])}


class UnkeyedPolicy(CountedPolicy):
    """Samples as it likes."""

    @property
    def provides(self):
        return super().provides - {"policy.keyed"}


class LateSelector(AllSelector):
    """Shows more in later rounds."""

    def setup(self, agent):
        self._agent = agent

    def select(self, queries, store):
        most = 1 + self._agent.position[1]
        found = super().select(queries, store)
        return [Selection(experiences=one.experiences[:most], scores=one.scores[:most]) for one in found]


class OwnPlugin:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("policy", "policy", f"{__name__}:CountedPolicy")
        registry.add("policy", "unkeyed", f"{__name__}:UnkeyedPolicy")
        registry.add("selector", "late", f"{__name__}:LateSelector")
        registry.add("learner", "turn", f"{__name__}:CountedLearner")
        registry.add("learner", "peek", f"{__name__}:PeekingLearner")
        registry.add("learner", "idle", f"{__name__}:IdleLearner")
        registry.add("learner", "tell", f"{__name__}:TellingLearner")
        registry.add("learner", "keep", f"{__name__}:KeepingLearner")


def start(folder, shared=None, **changes):
    """Run the base with changes: the run, how many steps were played and calls made for it, its notes and what it took over."""
    plugins = Plugins().discover()
    plugins.add("own", OwnPlugin())
    mix = {**BASE, **changes, "run": {"dir": str(folder), **changes.get("run", {})}}
    experiment, given = load_experiment(mix, [], plugins.registry)
    watching, before = Watching(), (Work.steps, Work.calls)
    result = run_experiment(experiment, plugins=plugins, given=given, observer=watching, shared=shared)
    return (
        load(result.folder),
        (Work.steps - before[0], Work.calls - before[1]),
        [*watching.notes, *([result.taken] if result.taken else [])],
    )


@pytest.fixture
def shared(tmp_path):
    return Shared(tmp_path / "shared")


@pytest.fixture
def filled(tmp_path, shared):
    """What a run of the base left."""
    run, _, notes = start(tmp_path / "filling", shared)
    assert notes == []
    return shared, run


def outcome(run):
    """Everything that sharing must not change."""
    episodes = sorted(json.dumps(dataclasses.asdict(dataclasses.replace(found, seconds=0.0))) for found in run.episodes())
    table = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
    figures = [{**line, "call": {**line["call"], "seconds": 0.0}} for line in read_lines(run.path / "metrics.jsonl", json.loads)]
    studies = {path.name: path.read_text() for path in sorted(run.path.glob("study/*"))}
    return episodes, table, figures, (run.path / "history.jsonl").read_text(), studies, run.header.bank, trajectories(run), kept(run)


def trajectories(run):
    found = {}
    for path in sorted(run.path.glob("trajectories/**/*.jsonl")):
        lines = sorted(json.dumps({**json.loads(line), "seconds": 0.0}) for line in path.read_text().splitlines())
        found[path.relative_to(run.path).as_posix()] = lines
    return found


def kept(run):
    """The checkpoints, but for how often the bank was written to: a run that goes on counts that anew as well."""
    found = {}
    for path in sorted(run.path.glob("checkpoints/*/**/*.json")):
        raw = json.loads(path.read_text())
        found[path.relative_to(run.path).as_posix()] = {**raw, "bank_version": 0} if isinstance(raw, dict) else raw
    return found


@pytest.mark.parametrize(
    "learner",
    [BASE["learner"], {"name": "own.turn", "source": "both"}, {"name": "own.turn", "replicas": 2}, "own.idle"],
    ids=["both arms", "demonstrations too", "replicas", "idle"],
)
def test_a_run_is_the_same_whether_it_does_everything_leaves_it_or_finds_it(tmp_path, shared, learner):
    alone, work, _ = start(tmp_path / "alone", learner=learner)
    first, left, _ = start(tmp_path / "first", shared, learner=learner)
    second, found, notes = start(tmp_path / "second", shared, learner=learner)
    assert outcome(first) == outcome(alone)
    assert outcome(second) == outcome(alone)
    assert work == left
    assert found == (0, 0)
    assert len(notes) == 1


def test_a_call_is_not_taken_for_that_of_another_round(tmp_path, shared):
    changes = {**BARE, "learner": {"name": "own.tell", "source": "demonstration"}}
    changes["stream"] = [{"env": "core.counting", "tasks": {"limit": 2}, "rounds": 2}]
    for name in ("first", "second"):
        run, *_ = start(tmp_path / name, shared, **changes)
        assert [line["at"] for line in run.scalars()] == [0, 1]
        assert [(note.event, note.facts) for note in run.history()] == [("told", {"round": 0}), ("told", {"round": 1})]


def test_another_policy_learns_for_itself(tmp_path, filled):
    shared, _ = filled
    changes = {"policy": {"name": "own.policy", "skill": 21}}
    run, (_, calls), _ = start(tmp_path / "other", shared, **changes)
    assert calls == 3
    assert outcome(run) == outcome(start(tmp_path / "alone", **changes)[0])


def test_what_others_left_in_part_is_completed(tmp_path, filled):
    shared, whole = filled
    for place in shared.folder.glob("*/?[02468ace]"):
        place.rename(tmp_path / f"{place.parent.name}-{place.name}")
    run, (steps, _), notes = start(tmp_path / "again", shared)
    assert outcome(run) == outcome(whole)
    assert steps > 0
    assert "episodes" in notes[0]
    assert start(tmp_path / "last", shared)[1:] == ((0, 0), [ALL])


def test_time_is_told_as_it_was_spent_when_the_work_was_done(tmp_path, shared):
    first, *_ = start(tmp_path / "first", shared, policy={"name": "own.policy", "milliseconds": 2.0})
    second, *_ = start(tmp_path / "second", shared, policy={"name": "own.policy", "milliseconds": 2.0})
    assert {found.id: found.seconds for found in second.episodes()} == {found.id: found.seconds for found in first.episodes()}
    assert [call.seconds for call in second.calls()] == [call.seconds for call in first.calls()]


def test_how_many_are_played_at_once_and_where_makes_no_difference(tmp_path, filled):
    shared, whole = filled
    run, work, _ = start(tmp_path / "again", shared, run={"batch": 2, "workers": 1})
    assert work == (0, 0)
    assert outcome(run) == outcome(whole)


def test_another_learner_shares_what_comes_before_it(tmp_path, filled):
    shared, _ = filled
    learner = {"name": "own.turn", "arms": ["experience"]}
    run, (steps, calls), notes = start(tmp_path / "other", shared, learner=learner)
    assert calls == 2
    assert steps > 0
    assert notes == ["4 demonstrations, 8 episodes, 1 learner call"]
    assert outcome(run) == outcome(start(tmp_path / "alone", learner=learner)[0])


def test_what_follows_a_learner_that_came_to_the_same_is_shared(tmp_path, filled):
    shared, _ = filled
    learner = {"name": "own.turn", "arms": ["plain", "experience"], "milliseconds": 0.1}
    _, work, notes = start(tmp_path / "other", shared, learner=learner)
    assert work == (0, 2)
    assert notes == ["4 demonstrations, 32 episodes, 3 learner calls"]


def test_another_selector_shares_what_never_reads_it(tmp_path, filled):
    shared, whole = filled
    run, (steps, calls), notes = start(tmp_path / "other", shared, selector={"name": "core.nearest", "k": 2})
    scores = {found.id: found.score for found in whole.episodes()}
    assert all(found.score == scores[found.id] for found in run.episodes() if found.id.startswith("eval/0/") and found.arm == "plain")
    assert notes[0].startswith("4 demonstrations, ")
    assert (steps, calls) > (0, 0)
    alone, *_ = start(tmp_path / "alone", selector={"name": "core.nearest", "k": 2})
    assert outcome(run) == outcome(alone)


def test_who_asks_where_the_run_is_shares_no_episode_with_experience_from_elsewhere(tmp_path, shared):
    written = {"env": "core.counting", "tasks": {"limit": 4}}
    changes = {"selector": "own.late", "warmup": [], "learner": "own.tell"}
    for rounds in (1, 2):
        stream = [written, {**written, "rounds": rounds, "record": False}]
        run, *_ = start(tmp_path / f"sharing-{rounds}", shared, stream=stream, **changes)
        assert outcome(run) == outcome(start(tmp_path / f"alone-{rounds}", stream=stream, **changes)[0])


def test_another_bank_shares_no_episode_with_experience(tmp_path, filled):
    shared, _ = filled
    stream = [BASE["stream"][0], {"env": "core.counting", "tasks": {"limit": 4, "skip": 4}, "rounds": 2}]
    run, _, notes = start(tmp_path / "other", shared, stream=stream)
    assert notes == ["4 demonstrations, 4 episodes, 1 learner call"]
    assert outcome(run) == outcome(start(tmp_path / "alone", stream=stream)[0])


@pytest.mark.parametrize("learner", ["own.peek", "own.keep"])
def test_a_learner_that_reads_what_is_shown_does_not_share_over_another_selector(tmp_path, shared, learner):
    changes = {"warmup": {"name": learner, "source": "demonstration"}, "learner": []}
    start(tmp_path / "first", shared, **changes)
    assert start(tmp_path / "second", shared, **changes)[1][1] == 0
    assert start(tmp_path / "again", shared, **changes)[1][1] == 0
    assert start(tmp_path / "third", shared, **changes, selector={"name": "core.nearest", "k": 2})[1][1] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"run": {"seed": 1}},
        {"policy": {"name": "own.policy", "skill": 21}},
        {"sampling": {"temperature": 0.9}, "evaluate": {**BASE["evaluate"], "sampling": {"temperature": 0.9}}},
        {"run": {"max_steps": 3}},
        {"stream": [{"env": {"name": "core.counting", "length": 4}, "tasks": {"limit": 2}}]},
        {"policy": "own.unkeyed"},
    ],
    ids=["seed", "policy", "sampling", "steps", "environment", "unkeyed"],
)
def test_no_episode_is_shared_where_what_draws_it_differs(tmp_path, shared, changes):
    start(tmp_path / "first", shared, **BARE)
    assert start(tmp_path / "second", shared, **BARE)[1:] == ((0, 0), ["4 episodes"])
    assert start(tmp_path / "other", shared, **BARE | changes)[2] == []


def test_an_environment_that_cannot_be_replayed_shares_nothing(tmp_path, shared, monkeypatch):
    monkeypatch.setattr(Counting, "provides", property(lambda _: frozenset({"env.actions", "env.demos"})))
    start(tmp_path / "first", shared, **BARE)
    assert start(tmp_path / "second", shared, **BARE)[2] == []


def test_code_that_changed_shares_nothing(tmp_path, filled, monkeypatch):
    from xplearn.experiment.shared import calls, shelf

    shared, _ = filled
    for module in (calls, shelf):
        monkeypatch.setattr(module, "everywhere", lambda: {"code": "newer"})
    assert start(tmp_path / "again", shared)[2] == []


@pytest.mark.parametrize("left", [-3, 0], ids=["torn", "empty"])
def test_what_is_damaged_is_done_again_and_left_anew(tmp_path, filled, left):
    shared, whole = filled
    for path in [path for path in shared.folder.rglob("*") if path.is_file()]:
        raw = path.read_bytes()
        path.unlink()  # its blocks may be those of a checkpoint
        path.write_bytes(raw[:left])
    run, (steps, calls), notes = start(tmp_path / "again", shared)
    assert outcome(run) == outcome(whole)
    assert steps > 0
    assert calls == 3
    assert notes == []
    assert start(tmp_path / "last", shared)[1:] == ((0, 0), [ALL])


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(tmp_path):
    (tmp_path / "file").write_text("in the way")
    run, _, notes = start(tmp_path / "first", Shared(tmp_path / "file"))
    assert run.header.status == "finished"
    assert notes == []


def test_what_is_taken_over_is_held_against_this_runs_own_panel(tmp_path, shared):
    changes = {"stream": [{"env": "core.counting", "tasks": {"limit": 2}}], "warmup": [], "learner": []}
    run, *_ = start(tmp_path / "first", shared, **changes)
    trained = next(run.trajectories("train/0/0")).task.id
    with pytest.raises(ContractError, match="was made from task"):
        start(
            tmp_path / "second",
            shared,
            **changes,
            evaluate={"tasks": {"split": "train", "ids": [trained]}, "before": False, "resamples": 100},
        )


def test_a_bank_elsewhere_is_taken_over_too(tmp_path, filled):
    shared, whole = filled
    place = {"store": {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}}
    first, *_ = start(tmp_path / "first", shared, **place)
    (tmp_path / "bank.sqlite").unlink()
    second, (steps, calls), _ = start(tmp_path / "second", shared, **place)
    assert (steps, calls) == (0, 0)
    assert outcome(first)[0] == outcome(second)[0] == outcome(whole)[0]
