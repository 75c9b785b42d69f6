"""``xplearn report``: which runs it finds, where it writes, and what it says when it cannot."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil

import pytest

from tests.made_runs import TOY, toy
from xplearn.cli import main
from xplearn.record.cross import Cell, Cross


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        toy(root, run={"name": "a", "seed": seed})
    toy(root, run={"name": "b"}, evaluate={**TOY["evaluate"], "tasks": {"limit": 1}})
    return root


@pytest.fixture
def copy(runs, tmp_path):
    """The runs, to be written beside or damaged."""
    return shutil.copytree(runs, tmp_path / "runs")


def report(capsys, *words):
    status = main(["report", *map(str, words), "-q"])
    captured = capsys.readouterr()
    return status, captured.out.splitlines(), captured.err


def text(path):
    return re.sub(r"<script[^>]*>.*?</script>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_a_run_s_report_lies_inside_it_with_its_figures_and_tables(copy, capsys):
    folder = next(copy.glob("b-*"))
    status, lines, errors = report(capsys, folder)
    assert (status, lines, errors) == (0, [str(folder / "report" / "report.html")], "")
    assert (folder / "report" / "figures" / "leaderboard.svg").exists()
    assert {path.name for path in (folder / "report" / "tables").glob("leaderboard-table.*")} == {
        "leaderboard-table.md",
        "leaderboard-table.csv",
        "leaderboard-table.tex",
    }


def test_several_runs_are_written_to_where_one_stands_or_says(copy, capsys, monkeypatch):
    monkeypatch.chdir(copy)
    names = sorted(path.name for path in copy.glob("a-*"))
    assert report(capsys, *names)[1] == ["report/report.html"]
    assert report(capsys, *names, "--to", "out", "--no-figures", "--no-tables")[1] == ["out/report.html"]
    assert [path.name for path in (copy / "out").iterdir()] == ["report.html"]
    assert "<h1>2 runs</h1>" in text(copy / "out" / "report.html")


def test_a_run_given_twice_is_shown_once(copy, capsys, tmp_path):
    folder = next(copy.glob("b-*"))
    report(capsys, folder, copy, folder, "--to", tmp_path)
    assert "<h1>3 runs</h1>" in text(tmp_path / "report.html")


def test_a_run_on_other_tasks_is_refused_a_place_with_the_reason(copy, capsys):
    _, [path], _ = report(capsys, copy)
    page = text(copy / "report" / "report.html")
    assert path == str(copy / "report" / "report.html")
    assert 'id="table-refused-table"' in page
    assert "its panel of &#x27;core.errands&#x27; is" in page
    assert re.findall(r'<figure id="figure-leaderboard-([^"]*)"', page) == ["core-errands", "core-errands-2"]
    assert page.count("own policy, after its warm-up if it has one") == 1
    assert page.count("the same name without it: the same policy, its bank hidden") == 1


def test_a_damaged_run_among_others_is_named_and_left_out(copy, capsys):
    header, episodes = (next(copy.glob(f"{name}-*")) / file for name, file in (("b", "run.json"), ("a", "episodes.jsonl")))
    header.write_text("{")
    episodes.write_text("{}\n")
    status, _, _ = report(capsys, copy)
    page = text(copy / "report" / "report.html")
    assert status == 0
    assert "run.json: damaged" in page
    assert "episodes.jsonl: line 1 is damaged" in page


@pytest.mark.parametrize("made", ["nothing", "damaged"])
def test_where_no_run_can_be_read_nothing_is_written(tmp_path, capsys, made):
    if made == "damaged":
        (tmp_path / "run.json").write_text("{")
    status, lines, errors = report(capsys, tmp_path)
    assert (status, lines) == (2, [])
    assert errors.startswith(f"RecordError: {tmp_path}")
    assert not (tmp_path / "report").exists()


def test_a_run_alone_whose_record_is_damaged_is_an_error_and_no_empty_page(copy, capsys):
    folder = next(copy.glob("b-*"))
    (folder / "episodes.jsonl").write_text("{}\n")
    status, lines, errors = report(capsys, folder)
    assert (status, lines) == (2, [])
    assert errors.startswith(f"RecordError: {folder / 'episodes.jsonl'}: line 1 is damaged")
    assert not (folder / "report").exists()


def test_a_cross_is_reported_with_every_cell(copy, capsys):
    cells = [
        Cell(id=f"a · seed {seed}", axes={"mix": "a", "seed": str(seed)}, state="finished", run=path.name)
        for seed, path in enumerate(sorted(copy.glob("a-*")))
    ]
    cells += [
        Cell(id="b · seed 0", axes={"mix": "b", "seed": "0"}, state="unsound", reason="selector 'x' <requires> y"),
        Cell(id="b · seed 1", axes={"mix": "b", "seed": "1"}, state="waiting"),
    ]
    Cross(name="toy", given={"axes": {}}, axes={"mix": ["a", "b"], "seed": ["0", "1"]}, cells=cells).write(copy)
    status, lines, _ = report(capsys, copy)
    page = text(copy / "report" / "report.html")
    assert (status, lines) == (0, [str(copy / "report" / "report.html")])
    assert "<h1>The cross toy</h1>" in page
    assert "3 of 4 cells, mix (2) × seed (2), fit together" in page
    assert "Of 4 cells 2 finished, 1 waiting, 1 unsound" in page
    assert "selector &#x27;x&#x27; &lt;requires&gt; y" in page
    assert "a · seed 0" in page
    assert "xplearn cross toy.yaml" in page


def test_figures_of_papers_no_part_of_which_was_run_are_left_out(copy, capsys):
    report(capsys, copy)
    assert "Reported by papers" not in text(copy / "report" / "report.html")


def test_figures_of_papers_stand_apart(copy, capsys):
    pytest.importorskip("xplearn_edge")
    for header in copy.glob("a-*/run.json"):
        told = json.loads(header.read_text())
        told["parts"]["learner.0"] = {"name": "edge.distill"}
        header.write_text(json.dumps(told))
    report(capsys, copy)
    page = text(copy / "report" / "report.html")
    section = page[page.index('<section id="reported"') :]
    assert "Reported by papers, not measured here" in section
    assert "xplearn plugins --reported" in section
    assert "ExpWeaver" not in section[: section.index("</section>")]
    assert "EDGE, arXiv" in section[: section.index("</section>")]
    assert "EDGE, arXiv" not in page[: page.index('<section id="reported"')]


@pytest.mark.parametrize("words", [["--megabytes", "-1"], ["--episodes", "0"], ["--megabytes", "lots"]])
def test_a_size_that_is_none_is_refused(copy, capsys, words):
    with pytest.raises(SystemExit) as stop:
        main(["report", str(copy), *words])
    assert stop.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_a_page_holds_the_configuration_that_the_run_was_given(copy, capsys):
    folder = next(copy.glob("b-*"))
    report(capsys, folder)
    given = json.loads((folder / "run.json").read_text())["config"]
    assert f"{folder.name}.yaml" in text(folder / "report" / "report.html")
    assert f"policy: {given['policy']}" in text(folder / "report" / "report.html")


def test_figures_are_drawn_as_png_too_and_an_earlier_report_s_files_go(copy, capsys):
    pytest.importorskip("resvg_py")
    folder = next(copy.glob("b-*"))
    figures = folder / "report" / "figures"
    assert report(capsys, folder, "--png")[0] == 0
    drawn = {path.stem for path in figures.glob("*.svg")}
    assert "leaderboard" in drawn
    assert {path.stem for path in figures.glob("*.png")} == drawn
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in figures.glob("*.png"))
    report(capsys, folder)
    assert not list(figures.glob("*.png"))
    assert {path.stem for path in figures.glob("*.svg")} == drawn


@pytest.mark.parametrize("to", [[], ["--to", "some where"]])
def test_the_command_that_a_page_names_makes_it_again(copy, capsys, monkeypatch, to):
    monkeypatch.chdir(copy)
    (path,) = report(capsys, next(copy.glob("b-*")), *to)[1]
    before = (copy / path).read_bytes()
    command = html.unescape(re.search(r"<td>(xplearn report [^<]*)</td>", before.decode())[1])
    (copy / path).unlink()
    assert main([*shlex.split(command)[1:], "-q"]) == 0
    assert (copy / path).read_bytes() == before
