import math

import pytest

from xplearn.metrics.bootstrap import Interval
from xplearn.metrics.digits import tenths
from xplearn.report.figure import Sheet
from xplearn.report.sheets import to_markdown


@pytest.mark.parametrize(
    ("value", "text"),
    [(18.75, "18.8"), (-18.75, "-18.8"), (18.65, "18.7"), (0.25, "0.3"), (-0.04, "0.0"), (-0.05, "-0.1"), (1e6, "1000000.0"), (7, "7.0")],
)
def test_what_lies_halfway_goes_away_from_zero_on_either_side(value, text):
    assert tenths(value) == text


def test_the_same_figure_added_up_in_another_order_is_shown_alike():
    below, above = -18.749999999999996, -18.750000000000004
    assert {tenths(value, signed=True) for value in (below, -18.75, above)} == {"-18.8"}
    assert tenths(0.1 + 0.2 - 0.05) == tenths(0.25) == "0.3"


def test_signs_and_thousands_are_shown_where_asked_for():
    assert (tenths(0.0, signed=True), tenths(2.25, signed=True), tenths(-1234.56, grouped=True)) == ("+0.0", "+2.3", "-1,234.6")


def test_what_is_no_number_is_still_a_word():
    assert (tenths(math.inf), tenths(math.nan)) == ("inf", "nan")


def test_intervals_and_tables_round_by_the_same_rule():
    half = Interval(mean=-18.75, low=-18.749999999999996, high=-18.65)
    sheet = Sheet(name="a", title="t", caption="", columns=["a", "b"], rows=[[half, -18.75]])
    assert half.text(signed=True) == "-18.8 [-18.8, -18.7]"
    assert "| -18.8 [-18.8, -18.7] | -18.8 |" in to_markdown(sheet)
