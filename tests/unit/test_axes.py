"""What each choice of a cross changes, as it is shown: figure, table, page and terminal."""

import dataclasses
import io
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from rich.console import Console

from tests.made_runs import HOSTILE, episode, written
from tests.unit import pieces
from xplearn.metrics.board import Contender
from xplearn.metrics.bootstrap import Bootstrap
from xplearn.metrics.leaderboard import leaderboard
from xplearn.record.cross import Cell, Cross
from xplearn.report import figures, sheets
from xplearn.report.choices import effects, unmatched
from xplearn.report.page import Source, write
from xplearn.report.ranked import render

AXES = {"selector": ["nearest", "shortest", "random"], "learner": ["clone", "grpo"]}
GAINS = {"nearest": 0, "shortest": 8, "random": -6, "clone": 0, "grpo": 20}
TASKS = 12


def crossed(axes=AXES, states=None):
    """A board and the cross that it is of: each label adds its own gain to every task, more or less; ``states`` by id, else finished."""
    cells, contenders = [], []
    (one, firsts), (other, seconds) = axes.items()
    for number, labels in enumerate({one: first, other: second} for first in firsts for second in seconds):
        name = " · ".join(labels.values())
        gain = sum(GAINS.get(label, 0) for label in labels.values())
        scores = {0: {("d", f"t{task}"): 40.0 + gain + (task * (number + 1)) % 5 for task in range(TASKS)}}
        contenders.append(Contender(name=name, arm="plain", scores=scores, axes=labels, runs=[f"run-{number}"]))
        cells.append(Cell(id=name, axes=labels, state=(states or {}).get(name, "finished"), run=f"run-{number}"))
    board = leaderboard(contenders, title="d", environments={"d": "1"}, bootstrap=Bootstrap(resamples=50))
    return board, Cross(name="c", axes=dict(axes), cells=cells)


def shown(figure):
    return ["".join(text.itertext()) for text in ET.fromstring(figure.svg).iter("{http://www.w3.org/2000/svg}text")]


def test_labels_stand_beside_the_first_of_the_file_though_another_leads_the_board():
    board, cross = crossed()
    found = effects(board, cross).found
    assert [(of.choice.label, of.choice.against) for of in found] == [("shortest", "nearest"), ("random", "nearest"), ("grpo", "clone")]
    assert [of.difference.interval.mean for of in found] == pytest.approx([8, -6, 20], abs=2)
    assert effects(board, None).found == ()


@pytest.mark.parametrize("state", ["running", "failed", "waiting"])
def test_what_has_not_ended_is_beside_nothing(state):
    board, cross = crossed(states={"shortest · clone": state})
    found = effects(board, cross).found[0]
    assert (found.choice.label, found.matched, found.configurations) == ("shortest", 1, 2)


def test_a_forest_has_its_axes_in_order_with_how_many_configurations_matched():
    board, cross = crossed(states={"shortest · clone": "failed"})
    found = figures.axes(board, effects(board, cross))
    said = shown(found)
    heads = [said.index(words) for words in ("selector, beside nearest", "shortest", "random", "learner, beside clone", "grpo")]
    assert heads == sorted(heads)
    assert [words.partition(" · ")[2] for words in said if words.endswith("matched")] == [
        "1 of 2 matched",
        "2 of 2 matched",
        "2 of 3 matched",
    ]
    assert "better (Holm p < 0.05)" in said
    assert found.title == "What each choice changes: d"
    assert "95 % intervals over tasks and p" in found.caption


def test_a_table_has_a_row_for_each_label_and_marks_what_remains_after_holm():
    board, cross = crossed()
    sheet = sheets.axes_sheet(board, effects(board, cross))
    assert [list(row[:3]) for row in sheet.rows] == [
        ["shortest", "nearest", "selector"], ["random", "nearest", "selector"], ["grpo", "clone", "learner"],
    ]  # fmt: skip
    row = dict(zip(sheet.columns, sheet.rows[0], strict=True))
    of = effects(board, cross).found[0]
    assert row["difference"] == of.difference.interval
    assert (row["configurations"], row["lowest"], row["highest"], row["seeds"]) == ("2 of 2", min(of.each), max(of.each), 1)
    assert (row["tasks better"], row["tasks worse"], row["tasks"]) == (12, 0, 12)
    assert sheet.marked == [0, 1, 2]
    assert f"{row['highest']:+.1f}" in sheets.to_markdown(sheet)


def test_what_cannot_be_told_is_a_sentence_and_where_nothing_can_there_is_no_figure():
    alone = {"nearest · clone", "shortest · grpo", "random · grpo"}
    board, cross = crossed(states={cell.id: "failed" for cell in crossed()[1].cells if cell.id not in alone})
    told = unmatched(effects(board, cross))
    assert told.endswith("differ in that alone: selector shortest or random beside nearest; learner grpo beside clone.")
    assert figures.axes(board, effects(board, cross)) is None
    assert sheets.axes_sheet(board, effects(board, cross)) is None


def test_hostile_labels_are_text_and_long_ones_stay_apart():
    bad = [f"{pieces.HOSTILE} {number}" for number in range(3)]
    board, cross = crossed({pieces.HOSTILE: bad, "learner": [pieces.LONG + "x", pieces.LONG + "y", "z" + pieces.LONG]})
    figure, sheet = figures.axes(board, effects(board, cross)), sheets.axes_sheet(board, effects(board, cross))
    tags = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.add(tag)
    parser.feed(figure.svg + sheets.sheet_html(sheet))
    assert "script" not in tags
    assert not set("\x00\x1b\u202e") & set(figure.svg + sheets.to_markdown(sheet) + sheets.to_latex(sheet) + sheets.to_csv(sheet))
    assert len({words for words in shown(figure) if "…" in words}) == len([words for words in shown(figure) if "…" in words]) > 0


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one panel, the second of which solves what the first does not."""
    root, phases, found = tmp_path_factory.mktemp("axes"), [f"eval/{point}/core.errands" for point in (0, 1)], []
    for name, first in (("one", 0), ("two", 1)):
        played = [(phase, episode(phase, number, "plain")) for phase in phases for number in range(6)]
        solved = [(phase, dataclasses.replace(of, score=float(first), success=bool(first))) for phase, of in played]
        found.append(written(root / name, name, solved, panels={"core.errands": {"tasks": 6, "hash": "0"}}))
    return found


def of_two(runs, axis, labels, state="finished"):
    cells = [
        Cell(id=label, axes={axis: label}, state=at, run=run.path.name)
        for run, label, at in zip(runs, labels, ("finished", state), strict=True)
    ]
    return Cross(name="c", axes={axis: list(labels)}, cells=cells)


def test_a_page_shows_what_each_choice_changes_after_the_difference_from_base(runs, tmp_path):
    cross = of_two(runs, HOSTILE[0], (HOSTILE[1], HOSTILE[4]))
    page = write(Source(runs=runs, cross=cross, place=tmp_path), tmp_path).read_text(encoding="utf-8")
    assert page.index('id="figure-forest-base"') < page.index('id="figure-axes"') < page.index('id="table-axes-table"')
    assert page.count("What each choice changes") >= 2
    assert "1 of 1 matched" in page
    assert HOSTILE[0] not in page
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;, beside" in page
    assert {path.name for path in (tmp_path / "tables").glob("axes-*")} == {"axes-table.md", "axes-table.csv", "axes-table.tex"}
    assert (tmp_path / "figures" / "axes.svg").is_file()


def test_a_page_says_why_nothing_can_be_told(runs, tmp_path):
    page = write(Source(runs=runs, cross=two_apart(runs), place=tmp_path), tmp_path).read_text(encoding="utf-8")
    assert "Not compared, as no two configurations differ in that alone: selector shortest beside nearest; learner" in page
    assert 'id="figure-axes"' not in page
    assert "What each choice changes" not in write(Source(runs=runs), tmp_path).read_text(encoding="utf-8")


def two_apart(runs):
    labels = [{"selector": "nearest", "learner": "clone"}, {"selector": "shortest", "learner": "grpo"}]
    cells = [Cell(id=" · ".join(of.values()), axes=of, state="finished", run=run.path.name) for of, run in zip(labels, runs, strict=True)]
    return Cross(name="c", axes={"selector": ["nearest", "shortest"], "learner": ["clone", "grpo"]}, cells=cells)


def test_a_terminal_has_the_same_table_after_the_leaderboards(runs):
    console = Console(file=io.StringIO(), width=120)
    render(runs, of_two(runs, "selector", ("nearest", "[bold]shortest")), console)
    said = console.file.getvalue()
    assert said.index("Leaderboard: core.errands") < said.index("What each choice changes: core.errands")
    assert "[bold]shortest   nearest   selector   +100.0" in said
