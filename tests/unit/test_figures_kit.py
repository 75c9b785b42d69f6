import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xplearn.report.figures.kit import Drawing, compact, hatch, number, safe
from xplearn.report.figures.scale import Scale, around
from xplearn.report.figures.words import ELLIPSIS, distinct, fitted, widest, width, wrapped

FINITE = st.floats(-1e6, 1e6)


@given(st.lists(FINITE, min_size=1, max_size=20), FINITE, FINITE)
def test_a_scale_is_monotone_and_holds_every_value(values, one, other):
    scale = around(values, 10.0, 110.0)
    low, high = sorted([one, other])
    assert scale(low) <= scale(high)
    assert all(10.0 <= scale(value) <= 110.0 for value in (*values, one, other))
    slack = 1e-6 + 1e-8 * max(scale.high - scale.low, abs(scale.low), abs(scale.high))
    assert scale.low <= min(values) + slack
    assert scale.high >= max(values) - slack


@given(FINITE, st.floats(1e-3, 1e6))
def test_ticks_are_few_even_and_inside(low, span):
    ticks = Scale(low, low + span, 0.0, 1.0).ticks()
    assert len(ticks) <= 7
    assert all(low - span * 1e-6 <= tick <= low + span * (1 + 1e-6) for tick in ticks)
    gaps = [after - before for before, after in pairwise(ticks)]
    assert all(math.isclose(gap, gaps[0], rel_tol=1e-6) for gap in gaps)


def test_a_scale_of_scores_never_leaves_0_to_100():
    scale = around([1.0, 99.5], 0.0, 1.0, floor=0.0, ceiling=100.0)
    assert (scale.low, scale.high) == (0.0, 100.0)
    assert scale.ticks() == [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]


@given(st.text(max_size=200), st.floats(0, 400))
def test_fitted_words_are_no_wider_than_their_room(text, room):
    found = fitted(text, room)
    assert found == ELLIPSIS or width(found) <= room


def test_a_cut_name_keeps_both_ends():
    assert fitted("smollm2-with-hamo-and-edge-seed-3", 120.0) == "smollm2-…e-seed-3"


@given(st.text(alphabet="ab ./-", max_size=80), st.floats(20, 200))
def test_wrapped_words_are_few_lines_that_fit(text, room):
    lines = wrapped(text, room)
    assert 1 <= len(lines) <= 3
    assert all(line == ELLIPSIS or width(line) <= room for line in lines)


def test_names_are_wrapped_after_their_marks():
    assert wrapped("scienceworld.text", 90.0) == ["scienceworld.", "text"]
    assert wrapped("webshop.text", 90.0) == ["webshop.text"]
    assert wrapped("ScienceWorld", 60.0) == ["Science", "World"]
    assert wrapped("ALFWorld", 70.0) == ["ALFWorld"]
    assert widest("scienceworld.text") == width("scienceworld.")


@given(st.text())
def test_safe_text_has_no_markup_and_nothing_that_xml_forbids(text):
    found = safe(text)
    assert not set(found) & set('<>"')
    assert all(character in "\t\n" or character >= " " for character in found)
    assert not set(found) & set("\x7f\ufffe\uffff")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_place_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="no place"):
        number(value)
    with pytest.raises(ValueError, match="no place"):
        Drawing().line((0, 0), (value, 0), "k-grid")


@pytest.mark.parametrize(("value", "text"), [(1.0, "1"), (1.256, "1.26"), (-0.001, "0"), (0.0, "0"), (100.0, "100"), (-10.5, "-10.5")])
def test_places_are_short(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (950, "950"), (999.7, "1k"), (12_345, "12.3k"), (4_560_000, "4.56M"), (2e9, "2G")])
def test_large_numbers_are_compact(value, text):
    assert compact(value) == text


@given(st.floats(4, 300), st.floats(4, 300))
def test_a_hatch_stays_inside_its_rectangle(wide, high):
    for line in hatch((10.0, 20.0, wide, high)):
        assert all(10 - 1e-6 <= x <= 10 + wide + 1e-6 and 20 - 1e-6 <= y <= 20 + high + 1e-6 for x, y in line)


@pytest.mark.parametrize(
    ("names", "left"),
    [
        (["a-core-edge", "a-core-hamo"], ["edge", "hamo"]),
        (["cards · text · GRPO", "no bank · text · GRPO"], ["cards", "no bank"]),
        (["a", "a b"], ["a", "a b"]),
        (["same", "same"], ["same", "same"]),
        (["one-alone"], ["one-alone"]),
        ([], []),
    ],
)
def test_names_side_by_side_lose_what_they_share(names, left):
    assert distinct(names) == left
