import io

from rich.console import Console

from tests.unit import pieces
from xplearn.report.columns import Column, fitted, left_out, tables, telling
from xplearn.report.explained import explained
from xplearn.report.ranked import _leaderboard

LEAD = Column("contender", ("a", "b"))
COLUMNS = [Column("mean", ("50.0 [40.0, 60.0]", "1.0")), Column("arm", ("experience", "plain")), Column("tied", ("best", "no"))]
WHOLE = 4 * 3 + len("contender") + len("50.0 [40.0, 60.0]") + len("experience") + len("best")


def lines(drawn, width):
    paper = io.StringIO()
    for table in drawn:
        Console(width=width, file=paper).print(table)
    return [line.rstrip() for line in paper.getvalue().splitlines()]


def test_a_table_short_of_a_few_columns_is_drawn_narrowly_and_whole():
    assert fitted(COLUMNS, [LEAD], WHOLE) == (COLUMNS, 3)
    for short in range(1, 5):
        drawn = tables(COLUMNS, [LEAD], [0, 0], WHOLE - short)
        assert len(drawn) == 1
        said = lines(drawn, WHOLE - short)
        assert max(map(len, said)) <= WHOLE - short
        assert [line.split()[-1] for line in said if line.split()][::2] == ["tied", "best"]


def test_what_can_be_done_without_goes_before_a_second_table_and_is_told():
    shown, _ = fitted(COLUMNS, [LEAD], WHOLE - 5, ["arm"])
    assert [column.name for column in shown] == ["mean", "tied"]
    assert left_out(COLUMNS, shown) == "no room for arm"
    assert left_out(COLUMNS, COLUMNS) == ""


def test_where_even_that_would_not_do_nothing_is_left_out_of_several_tables():
    assert fitted(COLUMNS, [LEAD], 20, ["arm"]) == (COLUMNS, 3)
    assert len(tables(COLUMNS, [LEAD], [0, 0], 20)) == 3


def test_a_column_of_dashes_tells_nothing_and_is_not_explained():
    found = telling([Column("BWT", ("–", "–")), Column("FWT", ("–", "+1.0"))], "–")
    assert [column.name for column in found] == ["FWT"]
    assert explained([column.name for column in found], "score 0 to 100", "") == (
        "score 0 to 100; FWT: just before its stage minus before learning"
    )


def test_a_leaderboard_on_a_narrow_terminal_explains_what_it_shows_and_names_what_it_does_not():
    paper = io.StringIO()
    _leaderboard(pieces.board(["hamo", "edge"]), Console(width=110, file=paper))
    said = " ".join(paper.getvalue().split())
    assert "There was no room for arm, seeds" in said
    assert "worse tasks: below Base" not in said
    assert said.count("contender") == 1
