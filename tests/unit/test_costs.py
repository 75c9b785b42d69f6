"""What a run cost, on a terminal."""

import io
import json
import shutil

import pytest
from rich.console import Console

from xplearn.config import load_experiment
from xplearn.experiment.run import run_experiment
from xplearn.metrics.spending import Spent, Upkeep
from xplearn.record.reader import load
from xplearn.report.costs import bank, compared, pieces, render, seconds, size
from xplearn.testing.dial import dial_plugins

KEPT = Upkeep(
    bank=1200, content_bytes=3_400_000, added=1300, changed=5, removed=100, rounds=10, rounds_written=9, record_seconds=12.25,
    learner_seconds=1234.5,
)  # fmt: skip
SPENT = {
    ("training", "plain"): Spent(episodes=1600, tokens_in=1_000_000, tokens_out=20_000, seconds=900.0),
    ("evaluation", "experience"): Spent(episodes=40, tokens_in=50_000, tokens_out=500, seconds=0.0421),
}
NOTHING = Upkeep(
    bank=None, content_bytes=None, added=None, changed=None, removed=None, rounds=0, rounds_written=None, record_seconds=None,
    learner_seconds=None,
)  # fmt: skip


def drawn(found, width):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    for piece in found:
        console.print(piece)
    return stream.getvalue()


def test_numbers_are_short():
    assert [seconds(value) for value in (0.0421, 3.14159, 1234.5)] == ["0.0421", "3.14", "1,234"]
    assert [size(count) for count in (0, 999, 3_400_000, 52_000, 7_100_000_000)] == ["0 B", "999 B", "3.4 MB", "52 kB", "7.1 GB"]


@pytest.mark.parametrize("width", [40, 60, 200])
def test_each_purpose_and_sort_of_learner_has_a_line_and_no_figure_is_cut(width):
    text = drawn(pieces(SPENT, KEPT, width), width)
    assert max(map(len, text.splitlines())) <= width
    for figure in (
        "training, plain arm",
        "evaluation, experience arm",
        "1,600",
        "1,000,000",
        "20,000",
        "writing the bank",
        "12.2",
        "1,234",
    ):
        assert figure in text
    assert "learning" not in drawn(pieces(SPENT, NOTHING, width), width)


def test_the_bank_is_told_in_one_line():
    assert bank(KEPT, 5_000_000) == (
        "bank: 1,200 experiences, 3.4 MB of texts and vectors, 5 MB on disk; 1,300 added, 5 reworded, 100 removed in 9 of 10 rounds"
    )
    assert bank(NOTHING, 57_000) == ""


CONFIG = {
    "stream": [{"env": "core.counting", "tasks": {"limit": 4}, "rounds": 2}],
    "policy": "dial.policy",
    "selector": "core.bm25",
    "conditioner": "core.prompt",
    "record": "core.record",
    "learner": {"name": "dial.turn", "arms": ["plain", "experience"]},
    "evaluate": {"tasks": {"limit": 2, "split": "test"}, "resamples": 100},
}


def played(where, **changes):
    plugins = dial_plugins()
    experiment, given = load_experiment({**CONFIG, **changes, "run": {"dir": str(where)}}, [], plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given).folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return played(tmp_path_factory.mktemp("costs"))


def shown(folder, width=100):
    stream = io.StringIO()
    run = load(folder)
    render(run, list(run.episodes()), Console(file=stream, width=width))
    return stream.getvalue()


def test_a_run_shows_what_its_folder_says(folder):
    text = shown(folder)
    played = [result for result in load(folder).episodes() if (result.phase[:5], result.arm) == ("train", "experience")]
    line = next(line.split() for line in text.splitlines() if "training, experience arm" in line)
    assert line[3:6] == [
        str(len(played)),
        f"{sum(result.tokens_in for result in played):,}",
        f"{sum(result.tokens_out for result in played):,}",
    ]
    assert "bank: 16 experiences" in text
    assert "16 added, 0 reworded, 0 removed in 2 of 2 rounds" in " ".join(text.split())


def test_training_that_shows_nothing_of_a_bank_is_no_experience_arm(tmp_path):
    folder = played(tmp_path, selector="core.none", learner={"name": "dial.turn", "arms": ["experience"]})
    assert {result.arm for result in load(folder).episodes() if result.phase.startswith("train")} == {"experience"}
    text = shown(folder)
    assert "training, plain arm" in text
    assert "experience arm" not in text


def test_a_run_recorded_before_calls_and_history_were_claims_nothing_about_them(folder, tmp_path):
    older = shutil.copytree(folder, tmp_path / "older")
    (older / "history.jsonl").unlink(missing_ok=True)
    told = [json.loads(line) for line in (older / "metrics.jsonl").read_text().splitlines()]
    kept = [{name: value for name, value in line.items() if name not in ("number", "call")} for line in told]
    (older / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))
    text = shown(older)
    assert "bank: 16 experiences" in text
    assert "added" not in text
    both = [load(folder), load(older)]
    text = drawn(compared(["new", "old"], both, [list(run.episodes()) for run in both], 300), 300)
    new, old = (next(line.split() for line in text.splitlines() if line.split()[:1] == [name]) for name in ("new", "old"))
    assert new[1:5] == old[1:5]
    assert new[-3:] == ["2", "of", "2"]
    assert old[-4:] == ["–", "–", "–", "–"]


def test_a_run_that_has_played_nothing_has_no_costs(folder, tmp_path):
    begun = shutil.copytree(folder, tmp_path / "begun")
    (begun / "episodes.jsonl").unlink()
    assert shown(begun) == ""
