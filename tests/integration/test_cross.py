"""A cross of toys: what runs, what does not and why, and that a stop anywhere changes nothing."""

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import xplearn
from xplearn.builtin.selectors import AllSelector
from xplearn.cli import main
from xplearn.errors import ConfigError, RecordError
from xplearn.experiment.cross.ledger import locked
from xplearn.experiment.cross.order import Budget
from xplearn.experiment.cross.run import run_cross
from xplearn.experiment.cross.watched import SilentCross
from xplearn.hookspecs import hookimpl
from xplearn.plugins import installed
from xplearn.record.cross import load_cross
from xplearn.record.following import held
from xplearn.record.reader import load
from xplearn.testing.dial import dial_plugins

BASE = {
    "policy": "core.random",
    "conditioner": "core.prompt",
    "sampling": {"choices": "admissible"},
    "evaluate": {"tasks": {"split": "test", "limit": 2}, "resamples": 100},
    "run": {"max_steps": 4},
}
STREAMS = {"errands": [{"env": "core.errands", "tasks": {"limit": 2}}], "counting": [{"env": "core.counting", "tasks": {"limit": 2}}]}
BANKS = {"none": {}, "kept": {"record": "core.record"}}
AXES = {"stream": STREAMS, "selector": ["core.none", "core.nearest"], "bank": BANKS, "seed": [0, 1]}
SMALL = {"stream": STREAMS, "seed": [0, 1]}


class Watching(SilentCross):
    def __init__(self):
        self.begun, self.ended, self.notes = [], [], []

    def cell_start(self, cell):
        self.begun.append(cell.id)

    def cell_end(self, cell, run, done, total):
        self.ended.append((cell.state, done, total))

    def note(self, text):
        self.notes.append(text)


def said(folder, axes, **others):
    return {"name": "toys", "dir": str(folder), "base": {**BASE, **others.pop("base", {})}, "axes": axes, **others}


def start(folder, axes=SMALL, plugins=None, observer=None, budget=None, **others):
    return run_cross(said(folder, axes, **others), plugins=plugins or installed(), budget=budget, observer=observer)


def states(result):
    return {cell.id: cell.state for cell in result.cells}


def tables(folder):
    """What every cell of the cross in a folder found, times aside."""
    found = {}
    for cell in load_cross(folder).cells:
        run = load(folder / cell.run)
        rows = [dataclasses.replace(row, seconds=0.0) for row in run.table().rows]
        episodes = sorted((episode.id, episode.score, episode.seed) for episode in run.episodes())
        found[cell.id] = (cell.state, rows, episodes)
    return found


def test_sound_cells_run_and_unsound_ones_stay_with_their_reason(tmp_path):
    watching = Watching()
    result = start(tmp_path, AXES, observer=watching)
    assert len(result.cells) == 16
    unsound = [cell for cell in result.cells if cell.state == "unsound"]
    assert {(cell.axes["selector"], cell.axes["bank"]) for cell in unsound} == {("core.nearest", "none")}
    assert all("selector 'core.nearest' requires 'store.filled': something must have written the bank" in cell.reason for cell in unsound)
    assert {cell.run for cell in unsound} == {""}
    ran = [cell for cell in result.cells if cell.state == "finished"]
    assert watching.ended == [("finished", number, 12) for number in range(1, 13)]
    for cell in ran:
        run = load(result.folder / cell.run)
        assert run.header.status == "finished"
        assert run.header.seed == int(cell.axes["seed"])
        assert run.header.parts["selector"]["name"] == cell.axes["selector"]
        assert list(run.header.panels) == [f"core.{cell.axes['stream']}"]
    assert load_cross(result.folder) == result.cross


def test_the_same_command_again_plays_nothing(tmp_path):
    first = start(tmp_path)
    watching = Watching()
    assert start(tmp_path, observer=watching).cross == first.cross
    assert watching.begun == []


def test_a_cell_that_would_do_the_same_as_another_is_not_run_twice(tmp_path):
    watching = Watching()
    axes = {"bank": {"a": {"record": "core.record"}, "b": {"record": [{"name": "core.record"}]}}, "seed": [0]}
    result = start(tmp_path, axes, observer=watching, base={"stream": STREAMS["counting"]})
    assert watching.begun == ["a · seed 0"]
    first, second = result.cells
    assert (second.state, second.reason, second.run) == ("same", "a · seed 0", first.run)


def test_what_is_wrong_with_a_value_is_told_before_anything_runs(tmp_path):
    for axes, words in [
        (
            {**SMALL, "selector": ["core.none", "core.nearst"]},
            r"axes\.selector\.core\.nearst: no selector is called 'core\.nearst'; did you mean",
        ),
        (
            {**SMALL, "selector": {"a": "core.none", "b": {"name": "core.nearest", "kk": 1}}},
            r"axes\.selector\.b: selector\.kk: unknown key",
        ),
        ({**SMALL, "evaluate.taks": [1]}, r"axes\.evaluate\.taks\.1: evaluate\.taks: unknown key; did you mean 'tasks'"),
        ({**SMALL, "run.batch": [1, 2], "policy": ["core.random", "core.randm"]}, r"axes\.policy\.core\.randm: no policy"),
        ({**SMALL, "backbone": ["tyny", "tiny"]}, r"axes\.backbone\.tyny: .*did you mean 'backbone\.tiny'"),
    ]:
        with pytest.raises(ConfigError, match=words):
            start(tmp_path, axes)
    with pytest.raises(ConfigError, match=r"^base\.run\.step: unknown key"):
        start(tmp_path, {**SMALL, "seed": [0]}, base={"run": {"step": 1}})
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_with_a_combination_makes_one_cell_unsound(tmp_path):
    both = [STREAMS["errands"][0], STREAMS["counting"][0]]
    result = start(tmp_path, {"stream": {"one": both[:1], "two": both}, "order": [[0], [1, 0]]}, budget=Budget(cells=1))
    assert list(states(result).values()) == ["finished", "unsound", "unsound", "waiting"]
    assert result.cells[1].reason.startswith("order: is [1, 0]; want each of the 1 stages once")


def test_tasks_that_an_environment_has_not_are_a_mistake_where_one_value_or_the_base_asks_for_them(tmp_path):
    wrong = {**STREAMS, "none": [{"env": "core.counting", "tasks": {"split": "trian"}}]}
    splits = {"good": {"evaluate.tasks.split": "test"}, "bad": {"evaluate.tasks.split": "tets"}}
    for axes, base, words in [
        (
            {"stream": wrong, "seed": [0]},
            {},
            r"^axes\.stream\.none: stream\.0\.tasks\.split: core\.counting: no split .*; did you mean 'train'\?$",
        ),
        ({"stream": STREAMS, "split": splits}, {}, r"^axes\.split\.bad: evaluate\.tasks\.split: core\.errands: .*; did you mean 'test'\?$"),
        (SMALL, {"evaluate": {"tasks": {"split": "tests"}}}, r"^base\.evaluate\.tasks\.split: core\.errands: no split is called 'tests'"),
        (SMALL, {"run": {"track": ["nothing.like.it"]}}, r"^base\.run\.track\.0: no tracker is called 'nothing\.like\.it'"),
    ]:
        with pytest.raises(ConfigError, match=words):
            start(tmp_path / "new", axes, base=base)
    assert list(tmp_path.iterdir()) == []


def test_tasks_that_only_a_combination_lacks_make_its_cells_unsound(tmp_path):
    kinds = {"any": {"stream.0.tasks.limit": 2}, "wash": {"stream.0.tasks.kinds": ["wash-bowl"]}}
    result = start(tmp_path, {"stream": STREAMS, "kinds": kinds}, budget=Budget(cells=1))
    assert [cell.state for cell in result.cells] == ["finished", "waiting", "waiting", "unsound"]
    assert result.cells[3].reason.startswith("stream.0.tasks.kinds: no task has 'wash-bowl'")


def test_where_no_cell_is_sound_nothing_is_written_and_the_reasons_are_told(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path / "new", {"stream": STREAMS}, base={"selector": "core.nearest"})))
    for words in ([], ["--dry-run"]):
        assert main(["cross", str(file), *words]) == 2
        captured = capsys.readouterr()
        assert "(1) 2 cells: " in captured.out
        assert "selector 'core.nearest' requires 'store.filled'" in captured.out
        assert "report" not in captured.out
        assert captured.err == "ConfigError: no cell is sound, for the reasons above; nothing was run or written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["toys.yaml"]


def test_who_follows_sees_that_a_process_works_on_a_cross_while_it_plans(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("xplearn.experiment.cross.run.build_grid", lambda *_: seen.append(held(tmp_path / "toys")) or [])
    assert start(tmp_path).cells == []
    assert seen == [True]
    assert list(tmp_path.iterdir()) == []


def test_one_bank_file_for_several_cells_that_write_it_is_refused(tmp_path):
    store = {"name": "core.sqlite", "path": str(tmp_path / "bank.sqlite")}
    with pytest.raises(ConfigError, match=r"base\.store\.path: .* is the bank of 4 cells"):
        start(tmp_path, base={"store": store, "record": "core.record"})


class Sometimes(AllSelector):
    """Fails while a file is there."""

    def select(self, queries, store):
        if Path(os.environ["XPLEARN_TEST_FAILING"]).exists():
            raise ZeroDivisionError("on\npurpose")
        return super().select(queries, store)


class Own:
    @hookimpl
    def xplearn_register(self, registry):
        registry.add("selector", "sometimes", f"{__name__}:Sometimes")


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Plugins with a selector that fails while the file at this path is there."""
    sign = tmp_path / "sign"
    sign.touch()
    monkeypatch.setenv("XPLEARN_TEST_FAILING", str(sign))
    plugins = dial_plugins()
    plugins.add("own", Own())
    return plugins, sign


def test_a_cell_that_raises_is_failed_and_the_next_one_runs_and_the_same_command_tries_again(tmp_path, failing):
    plugins, sign = failing
    axes = {"stream": STREAMS, "selector": ["own.sometimes", "core.none"]}
    base = {"record": "core.record"}
    result = start(tmp_path, axes, plugins, base=base)
    assert list(states(result).values()) == ["failed", "finished", "failed", "finished"]
    assert result.cells[0].reason.startswith("ZeroDivisionError: on purpose (test_cross.py:")
    sign.unlink()
    watching = Watching()
    again = start(tmp_path, axes, plugins, watching, base=base)
    assert watching.begun == [cell.id for cell in result.cells if cell.state == "failed"]
    assert set(states(again).values()) == {"finished"}
    assert {cell.reason for cell in again.cells} == {""}


def test_a_cell_that_fails_each_time_holds_no_other_up_however_small_the_budget(tmp_path, failing):
    plugins, _ = failing
    axes = {"stream": STREAMS, "selector": ["own.sometimes", "core.none"]}
    for _ in range(3):
        result = start(tmp_path, axes, plugins, budget=Budget(cells=1), base={"record": "core.record"})
    assert list(states(result).values()) == ["failed", "finished", "failed", "waiting"]
    watching = Watching()
    start(tmp_path, axes, plugins, watching, base={"record": "core.record"})
    assert watching.begun == [result.cells[number].id for number in (3, 0, 2)]


def test_a_cell_that_lacks_a_plugin_is_failed_and_says_what_to_install(tmp_path):
    result = start(tmp_path, {"selector": ["core.none", "own.sometimes"]}, base={"stream": STREAMS["counting"]})
    assert list(states(result).values()) == ["finished", "failed"]
    assert "plugin 'own': is not installed" in result.cells[1].reason


def test_ctrl_c_leaves_a_cross_that_goes_on(tmp_path, monkeypatch):
    class Stopping(Watching):
        def cell_start(self, cell):
            super().cell_start(cell)
            if len(self.begun) == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        start(tmp_path, observer=Stopping())
    cells = load_cross(tmp_path / "toys").cells
    assert [(cell.state, cell.reason) for cell in cells[:3]] == [("finished", ""), ("waiting", ""), ("waiting", "interrupted")]
    assert set(states(start(tmp_path)).values()) == {"finished"}
    start(tmp_path / "whole")
    assert tables(tmp_path / "toys") == tables(tmp_path / "whole" / "toys")


def test_a_changed_file_adds_cells_and_leaves_the_folders_of_others_alone(tmp_path):
    before = start(tmp_path)
    gone = [cell.run for cell in before.cells if cell.axes["stream"] == "errands"]
    watching = Watching()
    after = start(tmp_path, {"stream": {"counting": STREAMS["counting"]}, "seed": [0, 1, 2]}, observer=watching)
    assert watching.begun == ["counting · seed 2"]
    assert [cell.id for cell in after.cells] == ["counting · seed 0", "counting · seed 1", "counting · seed 2"]
    assert all((after.folder / run / "run.json").exists() for run in gone)
    assert watching.notes == [f"no longer in the file, and left alone: 2 runs in {after.folder} ({', '.join(sorted(gone))})"]


def test_priority_decides_what_a_small_budget_runs(tmp_path):
    watching = Watching()
    result = start(tmp_path, observer=watching, budget=Budget(cells=2), first=[{"stream": "counting"}])
    assert watching.begun == ["counting · seed 0", "counting · seed 1"]
    assert states(result)["errands · seed 0"] == "waiting"


def test_two_jobs_find_what_one_does(tmp_path):
    axes = {"stream": STREAMS, "bank": BANKS}
    one, two = start(tmp_path / "one", axes), start(tmp_path / "two", axes, budget=Budget(jobs=2))
    assert [cell.run for cell in one.cells] == [cell.run for cell in two.cells]
    assert tables(one.folder) == tables(two.folder)


def test_a_process_that_loses_whoever_started_it_stops_and_its_cell_goes_on_later(tmp_path):
    long = {
        **BASE,
        "stream": [{"env": "core.errands"}],
        "evaluate": {"tasks": {"split": "test"}, "replicas": 40},
        "run": {"dir": str(tmp_path)},
    }
    worker = subprocess.Popen(
        [sys.executable, "-m", "xplearn.experiment.cross.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    worker.stdin.write(json.dumps({"id": "a", "given": long, "folder": str(tmp_path / "a")}).encode() + b"\n")
    worker.stdin.flush()
    deadline = time.monotonic() + 60
    while worker.poll() is None and time.monotonic() < deadline:
        if any(path.stat().st_size for path in tmp_path.glob("*/episodes.jsonl")):
            break
        time.sleep(0.01)
    answer, _ = worker.communicate(timeout=60)
    assert (answer, worker.returncode) == (b"", 0)
    (folder,) = tmp_path.glob("*/run.json")
    assert load(folder.parent).header.status == "interrupted"


def test_a_second_process_is_refused(tmp_path):
    with locked(tmp_path / "toys"), pytest.raises(RecordError, match="another process is running this cross"):
        start(tmp_path)


def test_a_damaged_record_is_refused_with_the_reason_and_made_anew_without_it(tmp_path):
    folder = start(tmp_path).folder
    (folder / "cross.json").write_text('{"format": 1, "cells": [')
    with pytest.raises(RecordError, match=r"cross\.json: damaged \(.*; remove this file and repeat the command that made it"):
        start(tmp_path)
    (folder / "cross.json").unlink()
    watching = Watching()
    assert set(states(start(tmp_path, observer=watching)).values()) == {"finished"}
    assert watching.begun == []


def test_the_folder_of_a_run_is_not_taken_for_a_cross(tmp_path):
    folder = start(tmp_path, {"seed": [0]}, base={"stream": STREAMS["counting"]}).folder
    (run,) = folder.glob("seed-0-*")
    with pytest.raises(RecordError, match="is the folder of a run"):
        run_cross({**said(folder, {"seed": [0]}), "name": run.name, "base": {**BASE, "stream": STREAMS["counting"]}}, plugins=installed())


SCRIPT = """
import json, sys
from xplearn.experiment.cross.run import run_cross
from xplearn.testing.dial import dial_plugins
print(run_cross(json.loads(sys.argv[1]), plugins=dial_plugins()).folder)
"""


@pytest.mark.slow
def test_killed_in_the_middle_it_ends_with_the_tables_of_an_undisturbed_cross(tmp_path):
    base = {
        "policy": {"name": "dial.policy", "milliseconds": 2.0},
        "learner": {"name": "dial.turn", "milliseconds": 5.0},
        "record": "core.record",
    }
    axes = {"stream": STREAMS, "selector": ["core.none", "core.nearest"]}
    whole = start(tmp_path / "whole", axes, dial_plugins(), base=base).folder
    command = [sys.executable, "-c", SCRIPT, json.dumps(said(tmp_path, axes, base=base))]
    cut = tmp_path / "toys"
    killed = 0
    for cells in (1, 2):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while process.poll() is None and len(list(cut.glob("*/episodes.jsonl"))) <= cells and time.monotonic() < deadline:
            time.sleep(0.002)
        killed += process.poll() is None
        process.kill()
        process.wait()
    assert killed == 2, "the kills came too late to prove anything"
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert tables(cut) == tables(whole)


def test_a_dry_run_prints_every_cell_and_plays_nothing(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, AXES)))
    assert main(["cross", str(file), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "   1. errands · core.none · none · seed 0  2 episodes" in out
    assert "errands · core.nearest · none · seed 0  unsound (1)" in out
    assert "(1) 4 cells: selector 'core.nearest' requires" in out
    assert out.count("(record core.record, ") == 1
    assert "2 seeds: intervals over seeds are very wide; three or more tell more" in out
    assert "16 cells: 4 unsound, 12 waiting" in out
    assert "to run: 12 cells, at most 48 episodes" in out
    assert "no time known until a cell has run" in out.splitlines()[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toys.yaml"]


def test_a_dry_run_says_which_cells_its_budget_would_run_as_far_as_times_are_known(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, SMALL, first=[{"seed": 1}])))

    def ahead(*budget):
        assert main(["cross", str(file), "--dry-run", *budget]) == 0
        lines = capsys.readouterr().out.splitlines()
        return [line.split(". ")[1].split("  ")[0] for line in lines if ". " in line[:6]], lines

    begun, lines = ahead("--cells", "3")
    assert begun == ["errands · seed 1", "counting · seed 1", "errands · seed 0"]
    assert "      counting · seed 0  2 episodes; not within this budget" in lines
    assert lines[-1].startswith("to run: 3 of 4 cells, at most 6 episodes")
    assert ahead("--minutes", "1")[1][-1].endswith("no time known until a cell has run, so fewer may begin")
    assert main(["cross", str(file), "--cells", "1", "-q"]) == 0
    record = tmp_path / "toys" / "cross.json"
    kept = json.loads(record.read_text())
    record.write_text(json.dumps({**kept, "cells": [{**cell, "seconds": 50.0 * bool(cell["run"])} for cell in kept["cells"]]}))
    capsys.readouterr()
    begun, lines = ahead("--minutes", "1")
    assert begun == ["counting · seed 1"]
    assert ", about 50 s one after the other; nothing was played" in lines[-1]
    assert ahead("--minutes", "1", "--jobs", "2")[0] == ["counting · seed 1", "errands · seed 0"]


def test_labels_that_yaml_takes_for_truth_values_are_said_to_want_quotes(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    given = json.dumps(said(tmp_path, {"bank": {"on": {"record": "core.record"}, "off": {}}}, base={"stream": STREAMS["errands"]}))
    note = "axes.bank: YAML reads the labels on, yes, off, no as true and false; to keep them, write them in quotes"
    for text, told in ((given, False), (given.replace('"on"', "on").replace('"off"', "off"), True)):
        file.write_text(text)
        assert main(["cross", str(file), "--dry-run"]) == 0
        assert (note in capsys.readouterr().out.splitlines()) == told
    assert main(["cross", str(file), "--cells", "1"]) == 0
    captured = capsys.readouterr()
    assert note in captured.err.splitlines()


def test_the_command_prints_the_grid_and_last_the_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, {**AXES, "bank": {**BANKS, "[red]kept[/]": {"record": "core.record"}}})))
    assert main(["cross", str(file), "--cells", "3"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1] == str(tmp_path / "toys")
    assert "selector · bank · seed" in captured.out
    assert "core.none · [red]kept[/] · 0" in captured.out
    assert "3 finished" in captured.out
    assert "the same command goes on with what waits" in captured.out
    first = "errands · core.none · none · seed 0"
    told = [line.split("   ")[0] for line in captured.err.splitlines() if first in line]
    assert told == [f"{first} begins", f"1/12 cells · {first}"]
    assert captured.err.count("(score before learning, without the bank → at the end, with it where it is shown)") == 1


def test_what_a_cell_took_from_others_is_told_and_an_interrupted_one_is_counted_but_not_with_quiet(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, {"bank": BANKS, "seed": [0]}, base={"stream": STREAMS["errands"]})))
    assert main(["cross", str(file)]) == 0
    assert "kept · seed 0: 2 episodes taken from what this cross did before" in capsys.readouterr().err.splitlines()
    cells = load_cross(tmp_path / "toys").cells
    run = tmp_path / "toys" / cells[0].run / "run.json"
    run.write_text(json.dumps(json.loads(run.read_text()) | {"status": "interrupted"}))
    assert main(["cross", str(file), "--dry-run"]) == 0
    assert "2 cells: 1 finished, 1 interrupted" in capsys.readouterr().out
    shutil.rmtree(run.parent)
    assert main(["cross", str(file), "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_the_command_ends_with_status_1_where_a_cell_failed_and_says_which(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, {"stream": STREAMS, "selector": ["core.none", "own.absent"]})))
    assert main(["cross", "-q", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-5].startswith("failed: errands · own.absent: plugin 'own': is not installed")
    assert captured.out.splitlines()[-3] == "the same command tries again what failed"
    assert captured.err == ""


def test_what_waits_and_what_failed_is_told_together(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, {"stream": STREAMS, "selector": ["own.absent", "core.none"]})))
    assert main(["cross", "-q", str(file), "--cells", "1"]) == 1
    assert capsys.readouterr().out.splitlines()[-3] == "the same command goes on with what waits and tries again what failed"


def test_where_every_cell_lacks_a_plugin_nothing_is_written_and_no_folder_is_named(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, {"stream": STREAMS, "selector": ["own.absent"]})))
    assert main(["cross", "-q", str(file)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "the same command tries again what failed"
    assert not (tmp_path / "toys").exists()


def test_a_process_that_cannot_be_started_fails_its_cell(tmp_path, monkeypatch):
    def refused(*args, **options):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(subprocess, "Popen", refused)
    result = start(tmp_path, {"stream": STREAMS}, budget=Budget(jobs=2))
    assert set(states(result).values()) == {"failed"}
    assert result.cells[0].reason == "its process cannot be started: Resource temporarily unavailable"


@pytest.mark.parametrize(
    ("deed", "reason"),
    [("kill -9 $$", "killed (SIGKILL), as"), ("kill -11 $$", "ended by SIGSEGV and"), ("exit 3", "ended with status 3 and")],
)
def test_a_process_that_ends_without_a_word_fails_its_cell_and_says_how_it_ended(tmp_path, monkeypatch, deed, reason):
    broken = tmp_path / "python"
    broken.write_text(f"#!/bin/sh\n{deed}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    result = start(tmp_path, {"stream": STREAMS}, budget=Budget(jobs=2))
    assert {cell.reason.partition(reason)[:2] for cell in result.cells} == {(f"its process {'was ' * ('killed' in reason)}", reason)}


def test_a_wrong_file_is_one_line_and_status_2(tmp_path, capsys):
    file = tmp_path / "toys.yaml"
    file.write_text(json.dumps(said(tmp_path, {"selecter": ["core.none"]})))
    assert main(["cross", str(file)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("ConfigError: axes.selecter: no key of an experiment is called that; did you mean 'selector'?")
    assert err.count("\n") == 1


def test_from_python_it_is_one_call(tmp_path):
    result = xplearn.cross(said(tmp_path, SMALL), cells=1)
    assert result.folder == tmp_path / "toys"
    assert [cell.state for cell in result.cells] == ["finished", "waiting", "waiting", "waiting"]


@pytest.mark.slow
def test_every_sound_cell_of_the_built_in_parts_runs_one_round(tmp_path):
    names = {
        slot: [entry.name for entry in installed().registry.entries(slot) if entry.plugin == "core"] for slot in ("selector", "conditioner")
    }
    axes = {**names, "record": [[], "core.record"], "learner": [[], {"name": "dial.turn"}]}
    base = {"policy": "dial.policy", "stream": STREAMS["counting"], "store": "core.memory"}
    result = start(tmp_path, axes, dial_plugins(), base=base)
    assert len(result.cells) == len(names["selector"]) * len(names["conditioner"]) * 4
    assert set(states(result).values()) <= {"finished", "unsound"}
    needing = {cell.axes["selector"] for cell in result.cells if cell.state == "unsound"}
    assert needing == set(names["selector"]) - {"core.none"}
    assert {cell.axes["record"] for cell in result.cells if cell.state == "unsound"} == {"none"}
