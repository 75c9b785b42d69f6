import dataclasses
import json

import pytest

from xplearn.builtin.record import RecordLearner
from xplearn.config import load_experiment
from xplearn.errors import ContractError, RecordError
from xplearn.experiment.context import Context
from xplearn.experiment.journal import BankWatch, CallJournal, NotedProgress, compare, size
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.record.reader import load
from xplearn.stores.memory import MemoryStore
from xplearn.testing import samples
from xplearn.testing.agents import FakeCheckpoint
from xplearn.testing.contracts.store_search import DIM, fill, unit
from xplearn.testing.dial import dial_plugins

MIX = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 3}, "rounds": 3}],
    "policy": "dial.policy",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "own.part",
    "learner": "dial.turn",
    "evaluate": {"tasks": {"limit": 2, "split": "test"}, "resamples": 100},
}


class Pruning(RecordLearner):
    """Writes as ``core.record``, notes what each entry is worth, and keeps the three newest."""

    def learn(self, batch, agent):
        figures = super().learn(batch, agent)
        for found in list(agent.store)[:-3]:
            agent.journal.note("pruned", found.id, reason="too old\x1b[31m", age=1)
            agent.store.remove([found.id])
        for found in agent.store:
            agent.journal.note("utility", found.id, gain=0.25, groups=[1, 2])
        return figures


@pytest.fixture
def start(tmp_path, request):
    """Run the mix in a folder with ``own.part`` as its record learner."""

    def run(folder="run", cls=Pruning, **changes):
        request.module.__dict__["Own"] = cls

        class Plugin:
            @hookimpl
            def xplearn_register(self, registry):
                registry.add("learner", "part", f"{__name__}:Own")

        plugins = dial_plugins()
        plugins.add("own", Plugin())
        mix = {**MIX, **changes, "run": {"dir": str(tmp_path / folder)}}
        experiment, given = load_experiment(mix, [], plugins.registry)
        return load(run_experiment(experiment, plugins=plugins, given=given).folder)

    return run


def test_every_entry_that_came_or_went_has_a_line_and_the_reasons_follow(start):
    run = start()
    notes = run.history()
    second = [note for note in notes if note.number == 3]
    assert [note.event for note in second] == ["added"] * 3 + ["removed"] * 3 + ["pruned"] * 3 + ["utility"] * 3
    assert {(note.stage, note.round, note.learner, note.name, note.policy_version) for note in second} == {
        (0, 1, "record.0", "own.part", 1)
    }
    added = second[0]
    assert dict(added.facts) | {"outcome": 0} == {
        "kind": "record",
        "source": "train/0/1/train/0/experience/0",
        "task": "train/0",
        "task_kind": "up",
        "outcome": 0,
    }
    assert second[6].facts == {"reason": "too old\x1b[31m", "age": 1}
    alive = {note.id for note in notes if note.event == "added"} - {note.id for note in notes if note.event == "removed"}
    assert len(alive) == 3
    assert {note.learner for note in notes} == {"record.0"}, "who does not write leaves no line"


def test_every_call_says_its_seconds_and_those_that_wrote_how_large_the_bank_is(start):
    calls = start().calls()
    assert [(call.learner, call.bank, call.unsourced) for call in calls] == [("record.0", 3, 0), ("learner.0", None, None)] * 3
    assert all(call.seconds > 0 for call in calls)
    assert calls[0].bank_bytes > 3 * 4 * 256


@pytest.mark.parametrize("at", ["record.0/0/0", "record.0/0/2", "learner.0/0/1"])
def test_what_was_written_before_a_lost_checkpoint_is_neither_lost_nor_there_twice(start, monkeypatch, at):
    whole = start("whole")
    checkpoint = Context.checkpoint

    def killed(self, name, *, keep=False):
        if name == at:
            raise KeyboardInterrupt
        checkpoint(self, name, keep=keep)

    with monkeypatch.context() as patch:
        patch.setattr(Context, "checkpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            start("cut")
    (folder,) = (whole.path.parents[1] / "cut").iterdir()
    lost = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert f"{lost[-1]['learner']}/0/{lost[-1]['round']}" == at, "the line was written, its checkpoint was not"
    assert all(note.number < lost[-1]["number"] for note in load(folder).history()), "what may be undone is not told"
    with (folder / "history.jsonl").open("ab") as torn:
        torn.write(b'{"number":')
    cut = start("cut")
    assert (cut.path / "history.jsonl").read_text() == (whole.path / "history.jsonl").read_text()
    assert cut.scalars() == whole.scalars()
    assert len((cut.path / "metrics.jsonl").read_text().splitlines()) == 6


def test_a_failed_call_leaves_no_line(start, monkeypatch):
    class Failing(Pruning):
        fail = True

        def learn(self, batch, agent):
            figures = super().learn(batch, agent)
            if Failing.fail and agent.position == (0, 1):
                raise ContractError("own.part", "the power went")
            return figures

    with pytest.raises(ContractError, match="the power went"):
        start("a", Failing)
    monkeypatch.setattr(Failing, "fail", False)
    assert start("a", Failing).history() == start("b").history()


def test_the_journal_of_a_finished_run_that_was_edited_is_refused_with_its_line(start):
    run = start()
    path = run.path / "history.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace('"stage":0', '"stage":"x"'), *lines[2:]]) + "\n")
    with pytest.raises(RecordError, match=r"history.jsonl: line 2 is damaged \(stage is 'x'\)"):
        run.history()


def test_a_figure_must_not_pass_for_what_says_whose_it_is(start):
    class Colliding(Pruning):
        def learn(self, batch, agent):
            return {"stage": 3.0}

    with pytest.raises(ContractError, match=r"own.part: returned a figure called 'stage'"):
        start(cls=Colliding)


@pytest.mark.parametrize("facts", [{"gain": float("nan")}, {"what": object()}, {"ids": {1, 2}}])
def test_a_fact_that_is_no_finite_json_value_is_refused(facts):
    journal = CallJournal("some.learner")
    with pytest.raises(ContractError, match=r"some.learner: noted 'utility' of 'a' with a fact"):
        journal.note("utility", "a", **facts)
    assert journal.lines == []


def test_what_is_found_by_comparing_is_not_noted_by_learners():
    with pytest.raises(ContractError, match="noted 'added'"):
        CallJournal("some.learner").note("added", "a")


def test_notes_made_before_progress_was_saved_come_back_with_it():
    kept = FakeCheckpoint()
    first, again = CallJournal("l"), CallJournal("l")
    progress = NotedProgress(kept, first)
    first.note("expanded", "a", writer="rules")
    progress.save({"done": 1})
    first.note("expanded", "b")
    resumed = NotedProgress(kept, again)
    again.note("expanded", "a", writer="rules")
    assert resumed.load() == {"done": 1}
    assert again.lines == first.lines[:1]


def test_progress_without_notes_is_saved_as_it_is():
    kept = FakeCheckpoint()
    NotedProgress(kept, CallJournal("l")).save({"done": 1})
    assert kept.state == {"done": 1}


def test_a_bank_that_was_not_written_to_is_not_read_again():
    store, watch = MemoryStore(), BankWatch()
    store.add([samples.experience(1)])
    before = watch.look(store)
    assert watch.look(store) is before
    assert list(compare(before, before)) == []


def test_a_new_text_is_a_change_and_new_figures_are_not():
    store, watch = MemoryStore(), BankWatch()
    store.add([samples.experience(1), samples.experience(2)])
    before = watch.look(store)
    store.update("experience-1", utility=0.5, uses=3)
    store.update("experience-2", content="Other words.")
    (line,) = compare(before, watch.look(store))
    assert line == {"event": "changed", "id": "experience-2", "facts": {"fields": ["content"]}}


def test_the_size_of_a_bank_counts_texts_and_the_vectors_that_there_are():
    store = MemoryStore()
    fill(store, 3)
    store.open_space("other", encoder="e/8", dim=DIM)
    odd = dataclasses.replace(samples.experience(9), key="ü\ud800", content="", task="")
    store.add([odd], {"other": unit(1, seed=1)})
    picture = BankWatch().look(store)
    texts = sum(len(found.key) + len(found.content) for found in map(samples.experience, range(3)))
    assert size(store, picture) == {"bank": 4, "bank_bytes": texts + 5 + 4 * 4 * DIM, "unsourced": 1}
