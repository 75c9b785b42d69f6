import re

import pytest

from tests.unit import pieces
from xplearn.report.slugs import LONGEST, slugs


def test_a_slug_says_what_it_is_of():
    assert slugs(["ScienceWorld", "alfworld.text", "R & D (2)"]) == ["scienceworld", "alfworld-text", "r-d-2"]


def test_no_two_are_alike_and_each_is_the_same_whatever_stands_beside_it():
    assert slugs(["a.b", "a-b", "A B", "c"]) == ["a-b", "a-b-2", "a-b-3", "c"]
    long = ["x" * 60 + "1", "x" * 60 + "2"]
    assert len(set(slugs(long))) == 2
    assert slugs(long[1:]) == slugs(long)[1:]
    assert slugs(["环境", "Ж"])[1:] == slugs(["Ж"])


@pytest.mark.parametrize(
    "title", ["", "...", "环境", "../../etc/passwd", pieces.HOSTILE, "a" * 500, "é", "\ud800", "all", "table", "table 2"]
)
def test_whatever_a_title_holds_its_slug_is_the_name_of_a_file_and_of_no_other(title):
    (slug,) = slugs([title])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= LONGEST + len("on-") + 7
    assert slug != "all"
    assert not slug.startswith("table")
