from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from xplearn.record.checked import checked, conforms


@dataclass
class Card:
    name: str
    size: int
    weight: float | None = None


def test_record_of_the_right_shape_is_made():
    assert checked(Card, {"name": "a", "size": 1, "weight": 2}) == Card("a", 1, 2)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (3, "want the fields of Card, got 3"),
        ({"name": "a", "size": 1}, "lacks weight"),
        ({"name": "a", "size": 1, "weight": None, "x": 1, "b": 2}, "has unknown b, x"),
        ({"name": "a", "size": True, "weight": None}, "size is True"),
        ({"name": None, "size": 1, "weight": None}, "name is None"),
    ],
)
def test_record_of_the_wrong_shape_says_what_is_wrong(raw, reason):
    with pytest.raises(ValueError, match=f"^{reason}$"):
        checked(Card, raw)


@pytest.mark.parametrize(
    ("value", "hint", "fits"),
    [
        (object(), Any, True),
        (1, float, True),
        (float("inf"), float, False),
        (True, float, False),
        (1.0, int, False),
        ("a", Literal["a", "b"], True),
        (["a"], Literal["a", "b"], False),
        (None, str | None, True),
        ({"a": [1]}, Mapping[str, Sequence[int]], True),
        ({"a": 1}, Mapping[str, Sequence[int]], False),
        ([1, "a"], tuple[int, str], True),
        ([1], tuple[int, str], False),
        ([1, 2], tuple[int, ...], True),
        ("ab", list[str], False),
    ],
)
def test_value_conforms_to_its_annotation(value, hint, fits):
    assert conforms(value, hint) is fits
