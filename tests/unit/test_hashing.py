from __future__ import annotations

import math

import numpy as np
import pytest

from xplearn.encoders.hashing import HashingEncoder
from xplearn.errors import ConfigError


def cosine(first: str, second: str, **fields) -> float:
    a, b = HashingEncoder(**fields).encode([first, second])
    return float(a @ b)


def test_shared_words_and_pairs_raise_the_cosine():
    same_words = cosine("open the red door", "door red the open")
    assert cosine("open the red door", "Open the RED door!") == pytest.approx(1.0)
    assert 0.4 < same_words < 0.8
    assert abs(cosine("open the red door", "boil some water")) < 0.4


def test_vectors_are_the_same_on_every_machine():
    vector = HashingEncoder(dim=8).encode(["open the door"])[0]
    np.testing.assert_array_equal(vector, np.float32(np.array([0, 2, 0, 0, 0, -1, 0, 0]) / math.sqrt(5)))


def test_width_is_in_the_id():
    assert HashingEncoder().id == "core.hashing/256"
    assert HashingEncoder(dim=64).id == "core.hashing/64"
    assert HashingEncoder(dim=64).encode(["a"]).shape == (1, 64)


def test_text_without_words_is_a_zero_row():
    assert not HashingEncoder().encode(["?!", ""]).any()


def test_words_of_any_script_count():
    assert cosine("Tür öffnen", "tür schließen") > 0.2
    assert HashingEncoder().encode(["\ud800 door"]).any()


def test_impossible_width_is_refused():
    with pytest.raises(ConfigError, match="dim"):
        HashingEncoder(dim=0)
