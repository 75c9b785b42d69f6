import dataclasses
import os

import pytest

from xplearn.builtin.record import RecordLearner
from xplearn.cli import main
from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.hookspecs import hookimpl
from xplearn.record.bank import open_bank
from xplearn.record.reader import load
from xplearn.stores.sqlite import SqliteStore
from xplearn.testing import samples
from xplearn.testing.contracts.store_search import fill
from xplearn.testing.dial import dial_plugins

MIX = {
    "stream": [
        {"env": "core.errands", "tasks": {"limit": 1}, "warmup": True},
        {"env": "core.counting", "tasks": {"limit": 2}},
        {"env": "core.counting", "tasks": {"limit": 2}, "rounds": 2},
    ],
    "policy": "dial.policy",
    "selector": "core.nearest",
    "conditioner": "core.prompt",
    "record": "own.part",
    "learner": "dial.turn",
    "evaluate": {"tasks": {"limit": 1, "split": "test"}, "resamples": 100},
}
EVIL = "[bold]red[/bold] \x1b[31m\u202egniht"


class Judging(RecordLearner):
    """Writes as ``core.record``; in the last round judges every entry and prunes the first."""

    def learn(self, batch, agent):
        figures = super().learn(batch, agent)
        if agent.position == (2, 1):
            for number, found in enumerate(list(agent.store)):
                agent.store.update(found.id, utility=0.5 - number, uses=number, content=f"{EVIL}\n{found.content}")
                agent.journal.note("utility", found.id, gain=0.125, groups=3, utility=0.5 - number, uses=number)
            first = next(iter(agent.store))
            agent.journal.note("pruned", first.id, reason=f"never shown {EVIL}")
            agent.journal.note("merged", list(agent.store)[1].id, sources=[first.id])
            agent.store.remove([first.id])
        return figures


class Own:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("learner", "part", f"{__name__}:Judging")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    plugins = dial_plugins()
    plugins.add("own", Own())
    experiment, given = load_experiment({**MIX, "run": {"dir": str(tmp_path_factory.mktemp("runs"))}}, [], plugins.registry)
    return load(run_experiment(experiment, plugins=plugins, given=given).folder)


@pytest.fixture
def said(capsys):
    """Exit status, output lines and error of ``xplearn bank``."""

    def call(*words):
        status = main(["bank", *map(str, words)])
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out + captured.err
        assert "\u202e" not in captured.out + captured.err
        return status, captured.out.splitlines(), captured.err.strip()

    return call


def files(folder):
    return sorted((str(path.relative_to(folder)), path.stat().st_size) for path in folder.rglob("*"))


def test_show_prints_every_entry_and_what_the_bank_holds(run, said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    before = files(run.path)
    status, lines, _ = said("show", run.path)
    assert status == 0
    assert lines[0].split() == ["id", "kind", "task", "kind", "utility", "uses", "created", "content"]
    assert len(lines) == 1 + 5 + 1 + 3
    assert "[bold]red[/bold] " in lines[1], "markup is text"
    assert "stage 1, round 1, policy 1" in lines[1], "the warm-up is not counted"
    with open_bank(run.path) as store:
        assert lines[-3:] == [
            "5 entries (5 record) from 2 tasks; 0 name no source trajectory",
            "space key: 5 vectors of 256 numbers by core.hashing/256",
            f"digest {store.digest()}",
        ]
    assert files(run.path) == before, "looking leaves nothing behind"


def test_show_sorts_filters_and_limits(run, said):
    _, lines, _ = said("show", run.path, "--sort", "utility", "--limit", 2)
    with open_bank(run.path) as store:
        best = sorted(store, key=lambda found: -found.utility)
    assert [line.split()[0] for line in lines if line.startswith("record/")] == [found.id for found in best[:2]]
    _, lines, _ = said("show", run.path, "--kind", "card")
    assert lines[0].startswith("5 entries")
    with pytest.raises(SystemExit):
        said("show", run.path, "--limit", 0)


def test_a_narrow_terminal_shows_ids_and_figures_whole(run, said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    _, lines, _ = said("show", run.path)
    with open_bank(run.path) as store:
        assert [line.split()[0] for line in lines if line.startswith("record/")] == [found.id for found in store]


def test_the_bank_of_a_stage_is_the_one_it_left(run, said):
    for place in ([f"{run.path}@1"], [run.path, "--at", "1"]):
        _, lines, _ = said("show", *place)
        assert lines[-3].startswith("2 entries")
    assert said("show", f"{run.path}@3")[2] == f"RecordError: {run.path}: has no stage '3'; its stages are 1 to 2"


def test_diff_counts_and_names_what_was_added_removed_and_changed(run, said):
    status, lines, _ = said("diff", f"{run.path}@1", run.path)
    assert (status, lines[0]) == (0, "2 entries, then 5: 4 added, 1 removed, 1 changed")
    assert [line[0] for line in lines[1:]] == ["+"] * 4 + ["-", "~"]
    assert "utility 0 → -0.5, uses 0 → 1" in lines[-1]
    assert said("diff", run.path, run.path)[1] == ["5 entries, then 5: 0 added, 0 removed, 0 changed"]


def test_diff_tells_other_vectors(tmp_path, said):
    for name, seed in (("a", 1), ("b", 2)):
        store = SqliteStore(path=str(tmp_path / name))
        fill(store, 2) if seed == 1 else store.add([samples.experience(n) for n in range(2)])
        store.close()
    assert said("diff", tmp_path / "a", tmp_path / "b")[1][-1] == "spaces: key (e/8, 8), then none"


def test_history_tells_change_by_change_what_was_done_and_why(run, said):
    status, lines, _ = said("history", run.path)
    heads = [line for line in lines if not line.startswith("  ")]
    assert status == 0
    assert heads == [
        "stage 1, round 1, own.part (record.0), policy 1: 2 added",
        "stage 2, round 1, own.part (record.0), policy 2: 2 added",
        "stage 2, round 2, own.part (record.0), policy 3: 2 added, 3 changed, 1 removed, 6 utility, 1 pruned, 1 merged",
        "entries after each change that wrote: 2, 4, 5",
    ]
    _, lines, _ = said("history", run.path, "--event", "pruned")
    assert len(lines) == 2
    assert "reason=never shown [bold]red[/bold]" in lines[1]
    assert said("history", run.path, "--id", "nothing")[1] == ["nothing of the kind was written down"]


def test_why_tells_the_life_of_an_entry_that_is_there(run, said):
    with open_bank(run.path) as store:
        found = next(iter(store))
    for words in ([run.path, found.id], [found.id, "--run", run.path], [run.path, found.id[:-3]]):
        status, lines, _ = said("why", *words)
        assert (status, lines[0]) == (0, found.id)
    assert lines[1] == "  written   stage 1, round 1, by own.part (record.0), policy 1: a record"
    assert lines[2].startswith(f"  from      {found.source}: core.counting task '{found.task}', score ")
    assert lines[2].endswith("experience arm")
    assert '  changed   stage 2, round 2, by own.part: fields=["content"]' in lines
    assert "  utility   stage 2, round 2, by own.part: gain=0.125  groups=3  utility=-0.5  uses=1" in lines
    assert f"  now       in the bank: from task '{found.task}' (down), outcome {found.outcome:.2f}, utility -0.5, 1 uses" in lines
    assert lines[-1].startswith("            Actions: ")


def test_why_tells_when_and_why_an_entry_went(run, said):
    (gone,) = [note for note in run.history() if note.event == "removed"]
    _, lines, _ = said("why", run.path, gone.id)
    assert "  pruned    stage 2, round 2, by own.part: reason=never shown [bold]red[/bold]" in "\n".join(lines)
    assert lines[-1].startswith("  removed   stage 2, round 2, by own.part (record.0), policy 3: kind=record")
    assert any(line.startswith("  named     stage 2, round 2, merged of record/") for line in lines)


def test_why_answers_an_unknown_or_ambiguous_id_with_those_that_are_near(run, said):
    status, _, error = said("why", run.path, "record/train/1")
    assert status == 2
    assert error.startswith(f"RecordError: {run.path}: 2 experiences begin with 'record/train/1': record/train/1/0/train/")
    assert "near are record/train/1/0/train/0" in said("why", run.path, "train/1/0/train/0")[2]
    assert "no experience of this run is called 'zzz'; all ids: xplearn bank history" in said("why", run.path, "zzz")[2]
    assert said("why", "only-one-word")[2] == "ConfigError: want a run folder and one id, got 1 words; type: xplearn bank why RUN ID"


def test_an_entry_without_a_source_says_so(tmp_path, said):
    store = SqliteStore(path=str(tmp_path / "bank.sqlite"))
    store.add([dataclasses.replace(samples.experience(1), id="alien\nsecond line", source="", task="", content="")])
    store.close()
    _, lines, _ = said("show", tmp_path / "bank.sqlite")
    assert lines[-3:-1] == [
        "1 entries (1 record) from 0 tasks; 1 name no source trajectory",
        "1 name no source task: whether they come from evaluated tasks cannot be checked",
    ]
    assert any(line.startswith("alien second line  record") for line in lines)
    plugins = dial_plugins()
    mix = {
        **MIX,
        "record": [],
        "store": {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")},
        "run": {"dir": str(tmp_path / "runs")},
    }
    experiment, given = load_experiment({**mix, "selector": "core.bm25"}, [], plugins.registry)
    folder = run_experiment(experiment, plugins=plugins, given=given).folder
    _, lines, _ = said("why", folder, "alien")
    assert lines == [
        "alien second line",
        "  written   before this run, or before runs kept a journal: stage 1, round 2 of its writer's, policy 1",
        "  from      it names no source trajectory",
        "  now       in the bank: from no known task, outcome 0.25, utility 0, 0 uses",
    ]


def test_a_bank_that_is_being_written_is_read_as_its_last_write_left_it(tmp_path, said):
    store = SqliteStore(path=str(tmp_path / "bank.sqlite"))
    store.add([samples.experience(1)])
    before = files(tmp_path)
    assert said("show", tmp_path / "bank.sqlite")[1][-2] == "1 entries (1 record) from 1 tasks; 0 name no source trajectory"
    assert files(tmp_path) == before
    store.add([samples.experience(2)])
    store.close()
    assert said("show", tmp_path / "bank.sqlite")[1][-2].startswith("2 entries")
    assert os.listdir(tmp_path) == ["bank.sqlite"]


def test_export_and_import_carry_a_bank(run, tmp_path, said):
    status, (line,), _ = said("export", run.path, tmp_path / "bank.jsonl")
    assert (status, line[: line.index(",")]) == (0, f"{tmp_path / 'bank.jsonl'}: 5 entries")
    assert said("import", tmp_path / "bank.jsonl", tmp_path / "bank.sqlite")[0] == 0
    assert said("diff", run.path, tmp_path / "bank.sqlite")[1] == ["5 entries, then 5: 0 added, 0 removed, 0 changed"]
    status, _, error = said("import", tmp_path / "bank.jsonl", tmp_path / "bank.sqlite", "--into")
    assert status == 2
    assert "is in the bank already" in error


@pytest.mark.parametrize("verb", ["show", "diff", "history", "why", "export"])
def test_what_is_no_bank_is_refused_in_one_line(verb, tmp_path, said):
    (tmp_path / "text").write_text("not a bank")
    more = {"diff": [tmp_path], "why": ["id"], "export": [tmp_path / "out"]}.get(verb, [])
    for place in (tmp_path, tmp_path / "text", tmp_path / "none", f"{tmp_path / 'text'}@1", f"{tmp_path}@1"):
        status, _, error = said(verb, place, *more)
        assert status == 2
        assert error.startswith("RecordError: ")
        assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()
