import csv
import dataclasses
import io
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from tests.unit import pieces
from xplearn.metrics.bootstrap import Interval
from xplearn.record.cross import Cross
from xplearn.report import sheets
from xplearn.report.figure import Sheet
from xplearn.reported import Reported

BAD = [
    pieces.HOSTILE,
    "=HYPERLINK('x')",
    "+1",
    "-1+2",
    "@SUM(A1)",
    "|a|`b`",
    "50% of $x_i^2$ & {y} ~ \\input{z}",
    "line\r\nbreak",
    '"quoted", yes',
]


def ugly():
    rows = [[text, 1.25, Interval(mean=-2.0, low=-3.5, high=None), 7, None] for text in BAD]
    return Sheet(
        name="ugly", title=BAD[0], caption=BAD[0], columns=["name", BAD[0], "diff", "=n", "none"], rows=rows, marked=[1], signed=[2]
    )


def table(html):
    """Tags, and the words of each row's cells."""

    class Table(HTMLParser):
        def __init__(self):
            super().__init__()
            self.tags, self.rows = [], []

        def handle_starttag(self, tag, attrs):
            self.tags.append((tag, dict(attrs)))
            if tag == "tr":
                self.rows.append([])
            if tag in ("td", "th"):
                self.rows[-1].append("")

        def handle_data(self, data):
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += data.strip("\n")

    found = Table()
    found.feed(html)
    return found


def test_html_shows_every_cell_as_text_and_sorts_numbers_as_numbers():
    found = table(sheets.sheet_html(ugly()))
    assert {tag for tag, _ in found.tags} == {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "<script>alert(1)</script>" in found.rows[1][0]
    assert [row[1:] for row in found.rows[1:]] == [["1.3", "-2.0", "7", "–"]] * len(BAD)
    sorts = [attrs["data-sort"] for tag, attrs in found.tags if "data-sort" in attrs]
    assert sorts[:3] == ["1.25", "-2.0", "7.0"]
    heads = [attrs for tag, attrs in found.tags if tag == "th" and attrs.get("scope") == "col"]
    assert ["data-number" in attrs for attrs in heads] == [False, True, True, True, False]
    assert [number for number, row in enumerate(found.tags) if row == ("tr", {"class": "k-marked"})]
    assert not set("\x00\x1b\u202e") & set(sheets.sheet_html(ugly()))


def test_the_first_column_of_words_names_the_rows_and_stays_in_sight():
    found = table(sheets.sheet_html(sheets.leaderboard_sheet(pieces.board(["hamo", "edge"]))))
    heads = [attrs.get("class") for tag, attrs in found.tags if tag == "th" and attrs.get("scope") == "col"]
    assert heads[:3] == [None, "k-lead", None]
    cells = [(tag, attrs.get("scope")) for tag, attrs in found.tags if tag in ("th", "td")][len(heads) :]
    assert cells[:3] == [("td", None), ("th", "row"), ("td", None)]
    numbers = Sheet(name="a", title="t", caption="", columns=["a"], rows=[[1], [2]])
    assert "k-lead" not in sheets.sheet_html(numbers)


def test_no_header_of_a_leaderboard_is_long():
    columns = sheets.leaderboard_sheet(pieces.board()).columns
    assert max(len(column) for column in columns) < 14


def test_a_sheet_named_by_a_hostile_title_has_no_attribute_of_its_making():
    html = sheets.sheet_html(dataclasses.replace(ugly(), title='" onfocus="alert(1)'))
    assert all("onfocus" not in attrs for _, attrs in table(html).tags)


def test_csv_reads_back_with_numbers_in_full_and_nothing_that_a_spreadsheet_runs():
    text = sheets.to_csv(ugly())
    assert text.count("\r\n") == 1 + len(BAD)
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head[2:] == ["diff", "diff low", "diff high", "'=n", "none"]
    assert [row[1:] for row in rows] == [["1.25", "-2.0", "-3.5", "", "7", ""]] * len(BAD)
    names = [row[0] for row in rows]
    assert names[1:5] == ["'=HYPERLINK('x')", "'+1", "'-1+2", "'@SUM(A1)"]
    assert names[-1] == '"quoted", yes'
    assert all(not name.startswith(("=", "+", "-", "@")) for name in names)


def test_markdown_has_a_line_for_each_row_and_as_many_cells_as_columns():
    lines = [line for line in sheets.to_markdown(ugly()).splitlines() if line.startswith("| ")]
    assert len(lines) == 2 + len(BAD)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert r"\<script\>" in lines[2]
    assert lines[3].startswith("| **=HYPERLINK('x')** | **1.3** | **-2.0** | **7** |")
    assert r"50% of \$x\_i^2\$ \& {y} \~ \\input{z}" in lines[8]


def test_markdown_makes_no_link_of_a_name():
    sheet = Sheet(name="a", title="t", caption="", columns=["a"], rows=[["https://evil.example"], ["www.evil.example"], ["[x](y)"]])
    text = sheets.to_markdown(sheet)
    assert "://" not in text
    assert "www." not in text
    assert r"\[x\](y)" in text


def test_latex_escapes_all_that_is_special_and_keeps_its_columns():
    text = sheets.to_latex(ugly())
    body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert len(body) == len(BAD)
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {4}
    whole = [line.replace(r"\allowbreak{}", "") for line in body]
    assert r"50\% of \$x\_i\textasciicircum{}2\$ \& \{y\} \textasciitilde{} \textbackslash{}input\{z\}" in whole[6]
    assert whole[1] == (
        r"\textbf{\raggedright =HYPERLINK('x')} & \textbf{1.3} & \textbf{$-$2.0} & \textbf{7} & \textbf{\textendash{}} \tabularnewline"
    )
    stripped = re.sub(r"\\[\\&%$#_{}]", "", text)
    assert stripped.count("{") == stripped.count("}")
    assert re.search(r"\\begin\{tabular\}\{p\{[0-9.]+em\}rrrl\}", text)


def test_latex_sets_greek_and_latin_letters_and_spells_what_it_has_no_glyph_for():
    sheet = Sheet(name="a", title="t", caption="", columns=["β"], rows=[["é Łódź ộ ﬁ"], ["中🔥Ж"], ["a\u200f\x00b"], ["≤ 0.1 ∞"]])
    body = sheets.to_latex(sheet).partition(r"\toprule")[2]
    assert [r"$\beta$" in body, "{é Łódź o fi}" in body, "{U+4E2DU+1F525U+0416}" in body] == [True] * 3
    assert r"{a?b}" in body
    assert r"{$\leq$ 0.1 $\infty$}" in body


def wide():
    """Long names, paths without a space, long texts, many columns of figures and more rows than a page has lines."""
    interval = Interval(mean=-20.0, low=-33.3, high=10.5)
    text = "environment: {kinds: [find-non-living-thing], hash: 0123456789abcdef0123456789abcdef0123456789abcdef} " * 4
    rows = [[f"summaries · latent · coverage {number}+Harness", *[interval] * 8, "a/path/without/end" * 5, text] for number in range(60)]
    names = ["contender", *(f"training tokens, experience {at}" for at in range(8)), "where", "settings"]
    return Sheet(name="wide", title="t", caption="c", columns=names, rows=rows, strong=[(0, 0), (0, 1)])


def test_latex_names_its_packages_wraps_long_texts_and_scales_what_is_left():
    text = sheets.to_latex(wide())
    assert text.splitlines()[0] == r"% needs \usepackage[T1]{fontenc} \usepackage{booktabs} \usepackage{graphicx}"
    assert re.search(r"\\begin\{tabular\}\{lr{8}p\{[0-9.]+em\}p\{[0-9.]+em\}\}", text)
    assert text.count(r"\resizebox") == 2
    assert r"\shortstack[r]{training tokens, \\ experience 0}" in text
    assert r"{$-$20.0 {\scriptsize [$-$33.3, 10.5]}}" in text
    small = Sheet(name="a", title="t", caption="", columns=["a", "b"], rows=[["x" * 30, 1]])
    assert r"\begin{tabular}{lr}" in sheets.to_latex(small)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no LaTeX here")
@pytest.mark.parametrize("make", [wide, ugly, lambda: sheets.leaderboard_sheet(pieces.board())])
def test_no_table_runs_out_of_its_page(make, tmp_path):
    table = sheets.to_latex(make())
    packages = "\n".join(table.splitlines()[0].removeprefix("% needs ").split())
    (tmp_path / "a.tex").write_text(
        f"\\documentclass{{article}}\n{packages}\n\\begin{{document}}\n{table}\\end{{document}}\n", encoding="utf-8"
    )
    done = subprocess.run(["pdflatex", "-draftmode", "-interaction=nonstopmode", "a.tex"], cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "a.log").read_text(encoding="latin-1")
    if re.search(r"File `\w+.sty' not found", log):
        pytest.skip("no LaTeX packages here")
    assert done.returncode == 0, log[-2000:]
    assert not re.findall(r"Overfull|Float too large|Missing character", log)


def test_latex_keeps_an_option_of_a_command_as_it_is_typed():
    sheet = Sheet(name="a", title="t", caption="", columns=["a"], rows=[["xplearn report --to x ''"]])
    assert "{xplearn report -{}-to x '{}'}" in sheets.to_latex(sheet)


def test_csv_keeps_a_setting_that_is_a_negative_number():
    sheet = Sheet(name="a", title="t", caption="", columns=["a"], rows=[["-1"], ["-0.5"], ["-2e-05"], ["-1-1"], ["-x"]])
    assert [row[0] for row in csv.reader(io.StringIO(sheets.to_csv(sheet)))] == ["a", "-1", "-0.5", "-2e-05", "'-1-1", "'-x"]


def test_a_text_without_end_is_cut_in_its_middle_so_that_readers_of_csv_take_it():
    sheet = Sheet(name="a", title="t", caption="", columns=["a"], rows=[["begin" + "x" * 200_000 + "end"]])
    for form in (sheets.to_csv, sheets.to_markdown, sheets.to_latex, sheets.sheet_html):
        assert len(form(sheet)) < 7000
    ((_,), (cell,)) = csv.reader(io.StringIO(sheets.to_csv(sheet)))
    assert (cell[:6], cell[-4:]) == ("beginx", "xend")


def test_a_number_that_is_none_is_a_dash_and_no_number():
    sheet = Sheet(name="a", title="t", caption="", columns=["a"], rows=[[math.nan], [math.inf], [None]])
    assert sheets.to_csv(sheet) == 'a\r\n""\r\n""\r\n""\r\n'
    assert sheets.sheet_html(sheet).count(">–</td>") == 3


@pytest.mark.parametrize(("text", "sort"), [("3 of 40", "3.0"), ("< 0.001", "0.001"), ("-2", "-2.0"), ("3 apples", None), ("1e9", None)])
def test_text_that_is_a_figure_sorts_as_one(text, sort):
    sheet = Sheet(name="a", title="t", caption="", columns=["b", "a"], rows=[["x", text]])
    found = re.search(r'data-sort="([^"]*)"', sheets.sheet_html(sheet))
    assert (found and found[1]) == sort


def test_a_leaderboard_has_its_rows_in_order_and_marks_what_is_tied():
    board = pieces.board()
    sheet = sheets.leaderboard_sheet(board)
    assert [row[1] for row in sheet.rows] == [standing.contender.name for standing in board.standings]
    assert (sheet.marked, sheet.strong) == ((), [(0, 4), (1, 4)])
    assert "Marked: the best, and what is not told from it" in sheet.caption
    assert "66.0 [62.9, 68.8] | " in sheets.to_markdown(sheet).replace("*", "")
    assert "+34.6 [+30.6, +38.2]" in sheets.to_markdown(sheet)
    assert "A true difference of 4.2 points is found four times in five" in sheet.caption
    assert "of other tasks, not of other seeds" in sheet.caption
    assert sheets.leaderboard_sheet(dataclasses.replace(board, standings=())) is None


def test_differences_are_there_once_for_each_that_is_known_with_both_p_values():
    board = pieces.board(["hamo", "grpo"])
    sheet = sheets.differences_sheet(board)
    assert [row[1] for row in sheet.rows].count("Base") == 4
    assert [row[1] for row in sheet.rows].count("plain") == 2
    assert [row[1] for row in sheet.rows].count("best") == 3
    found = board.standings[1].versus_best
    row = next(row for row in sheet.rows if row[:2] == [board.standings[1].contender.name, "best"])
    assert row[2:] == [found.interval, f"{found.p:.3f}", f"{found.p_holm:.3f}", found.better, found.worse, found.tasks]


def test_a_contender_without_a_seed_of_the_best_is_not_called_best():
    board = pieces.board(["hamo", "edge"], arms=False)
    standings = board.standings[0], dataclasses.replace(board.standings[1], versus_best=None, tied=True)
    sheet = sheets.leaderboard_sheet(dataclasses.replace(board, standings=standings))
    assert [row[-1] for row in sheet.rows] == [None, "not compared"]
    assert sheet.strong == []


def test_equal_means_have_equal_ranks_and_each_of_the_highest_is_called_best():
    board = pieces.board(["hamo", "edge", "grpo"], arms=False)
    first, second, third = board.standings
    alike = dataclasses.replace(board, standings=(first, dataclasses.replace(second, mean=first.mean, tied=True), third))
    assert [(row[0], row[-1]) for row in sheets.leaderboard_sheet(alike).rows] == [(1, "best"), (1, "best"), (3, "no")]


def test_where_nobody_is_told_from_anybody_one_sentence_says_so_and_nothing_is_marked():
    board = pieces.tied(pieces.board(["hamo", "edge"]))
    sheet = sheets.leaderboard_sheet(board)
    assert (sheet.marked, sheet.strong) == ((), [])
    assert "tied" not in sheet.columns
    assert "None is best: of 4 none is told apart from the highest mean, 66.0." in sheet.caption
    assert "Marked" not in sheet.caption
    assert "**" not in sheets.to_markdown(sheet)
    assert r"\textbf" not in sheets.to_latex(sheet)
    contest = sheets.contest_sheet(board, [board])
    assert contest.strong == []
    assert "Marked" not in contest.caption


def test_a_column_that_holds_nothing_is_neither_shown_nor_explained():
    board = pieces.board(["hamo", "edge"], arms=False)
    bare = dataclasses.replace(board, standings=tuple(dataclasses.replace(of, versus_base=None) for of in board.standings))
    sheet = sheets.leaderboard_sheet(bare)
    assert sheet.columns == ["#", "contender", "arm", "seeds", "mean", "IQM", "tied"]
    assert not [word for word in ("paired", "worse tasks", "equal") if word in sheet.caption.partition("A true")[0]]
    full = sheets.leaderboard_sheet(pieces.board(["hamo", "edge"]))
    assert [full.columns[at] for at in full.signed] == ["vs Base", "vs plain"]
    assert "worse tasks: below Base" in full.caption


def test_captions_say_what_intervals_are_over():
    assert "over tasks and seeds" in sheets.leaderboard_sheet(pieces.board()).caption
    assert "intervals over tasks. " in sheets.leaderboard_sheet(pieces.board(seeds=(0,))).caption
    mixed = dataclasses.replace(pieces.board(), standings=(*pieces.board().standings, *pieces.board(seeds=(0,)).standings))
    assert "over tasks, and seeds where there are several" in sheets.differences_sheet(mixed).caption


def test_a_contest_marks_in_every_column_the_best_and_what_is_tied_with_it():
    axes = {"bank": "cards", "learner": "EDGE"}
    names = ["hamo", "grpo", "clone"]
    boards = [axed(pieces.board(names, title=title), axes | {"environment": title}) for title in ("a", "b")]
    everywhere = axed(pieces.board(names, title="all environments"), axes)
    sheet = sheets.contest_sheet(everywhere, [boards[0], dataclasses.replace(boards[1], standings=boards[1].standings[1:])])
    assert sheet.columns == ("contender", "all environments", "a", "b")
    assert [row[0] for row in sheet.rows] == [standing.contender.name for standing in everywhere.standings]
    assert (sheet.rows[0][2], sheet.rows[0][3]) == (boards[0].standings[0].mean, None)
    tied = [row for row, standing in enumerate(everywhere.standings) if standing.tied]
    assert {row for row, at in sheet.strong if at == 2} == set(tied)
    assert 0 < len(tied) < len(sheet.rows)
    assert (0, 3) not in sheet.strong
    cells = [attrs for tag, attrs in table(sheets.sheet_html(sheet)).tags if "k-strong-cell" in (attrs.get("class") or "")]
    assert len(cells) == len(sheet.strong)
    assert f"| **{boards[0].standings[0].mean.text()}** |" in sheets.to_markdown(sheet)
    assert sheets.contest_sheet(dataclasses.replace(everywhere, standings=()), []) is None


def axed(board, axes):
    """The same, its contenders told apart by their names as labels."""
    contenders = [
        dataclasses.replace(of.contender, axes=axes | {"name": of.contender.name.removesuffix("+Harness")}) for of in board.standings
    ]
    standings = [dataclasses.replace(of, contender=one) for of, one in zip(board.standings, contenders, strict=True)]
    return dataclasses.replace(board, standings=tuple(standings))


def test_no_zero_is_negative():
    found = Interval(mean=-0.01, low=-0.04, high=0.0)
    sheet = Sheet(name="a", title="t", caption="", columns=["a", "b", "c"], rows=[[found, -0.04, -0.04]], signed=[2])
    assert found.text() == "0.0 [0.0, 0.0]"
    assert found.text(signed=True) == "+0.0 [+0.0, +0.0]"
    assert "| 0.0 [0.0, 0.0] | 0.0 | +0.0 |" in sheets.to_markdown(sheet)


def test_costs_add_up_and_leave_out_what_no_run_knows():
    sheet = sheets.costs_sheet({"a": pieces.spendings(), "b": {}}, {"a": pieces.upkeep(learner_seconds=None)}, {"a": 48_000})
    first = dict(zip(sheet.columns, sheet.rows[0], strict=True))
    assert first["training tokens, experience"] == 640_000 + 33_000
    assert first["episodes, s"] == 720.0
    assert first["on disk, kB"] == 48.0
    assert first["rounds that wrote"] == "14 of 20"
    assert "learning, s" not in sheet.columns
    assert sheet.rows[1][1] is None
    assert sheets.costs_sheet({"a": {}}) is None


def test_continual_figures_have_a_row_for_each_matrix_of_several_stages():
    sheet = sheets.continual_sheet({"hamo": pieces.matrix(), "one": pieces.matrix(domains=["d"], reached=1)})
    assert [row[0] for row in sheet.rows] == ["hamo"]
    assert sheet.rows[0][2] == pieces.matrix().figures()["final"]
    assert sheets.continual_sheet({}) is None


def test_a_configuration_shows_what_differs_by_dotted_path_and_nothing_else():
    one = {"run": {"name": "a", "seed": 0}, "learner": [{"name": "core.clone", "lr": 0.1}], "same": {"x": [1]}, "none": []}
    other = {"run": {"name": "b", "seed": 1}, "learner": [{"name": "core.grpo", "lr": 0.1, "group": True}], "same": {"x": [1]}, "none": []}
    sheet = sheets.config_sheet({"a": one, "b": other})
    assert sheet.columns == ["path", "a", "b"]
    assert sheet.rows == [["run.seed", "0", "1"], ["learner.0", "core.clone {lr: 0.1}", "core.grpo {lr: 0.1, group: true}"]]
    assert sheets.config_sheet({"a": one, "b": one}) is None


def test_many_configurations_have_a_row_each_and_parts_of_one_name_are_told_apart_by_what_is_set():
    runs = {f"r{number}": {"learner": [{"name": "core.clone", "lr": number}], "record": ["x"] * (number % 2)} for number in range(4)}
    sheet = sheets.config_sheet(runs)
    assert sheet.columns == ["run", "learner.0.lr", "record"]
    assert sheet.rows == [["r0", "0", None], ["r1", "1", "[x]"], ["r2", "2", None], ["r3", "3", "[x]"]]


def test_labels_of_a_cross_say_what_they_stand_for():
    given = {"axes": {"bank": {"none": {"record": []}, "cards": {"record": {"name": "hamo.cards", "k": 1}}}, "seed": [0, 1]}}
    cross = Cross(given=given, axes={"bank": ["none", "cards"], "seed": ["0", "1"]})
    assert sheets.labels_sheet(cross).rows == [("bank", "none", "record: []"), ("bank", "cards", "record: hamo.cards {k: 1}")]
    assert sheets.labels_sheet(Cross(axes={"seed": ["0"]})) is None


def test_every_label_that_is_not_its_value_is_explained():
    given = {
        "selector": {"A": {"name": "core.nearest", "k": 2}, "B": "core.bm25"},
        "evaluate.replicas": {"few": 1, "many": 2},
        "learner": ["core.clone"],
        "seed": [0, 1],
    }
    axes = {"selector": ["A", "B"], "evaluate.replicas": ["few", "many"], "learner": ["core.clone"], "seed": ["0", "1"]}
    assert sheets.labels_sheet(Cross(given={"axes": given}, axes=axes)).rows == [
        ("selector", "A", "core.nearest {k: 2}"),
        ("selector", "B", "core.bm25"),
        ("evaluate.replicas", "few", "1"),
        ("evaluate.replicas", "many", "2"),
    ]


def test_what_papers_report_is_marked_as_theirs():
    row = Reported(paper="EDGE", method="EDGE", policy="Qwen", domain="ALFWorld", split="unseen", figure="success, %", value=91.2)
    sheet = sheets.reported_sheet([row])
    assert "not measured here" in sheet.title
    assert "nothing of it may stand in one table" in sheet.caption
    assert sheet.rows[0][5:8] == ["not stated", "success, %", "91.2"]
    assert sheets.reported_sheet([dataclasses.replace(row, value=78.25)]).rows[0][7] == "78.25"
    assert sheets.reported_sheet([]) is None
