from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xplearn_webshop.analyzer import _unicode, terms, tokens
from xplearn_webshop.porter import stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The 1.6oz O'Neil's running x-large", ["1.6oz", "o'neil", "run", "x", "larg"]),
        ("60x40x40cm, 1,000 pieces; 3:4", ["60x40x40cm", "1,000", "piec", "3", "4"]),
        ("a:b.c a..b 1.a a.1", ["a:b.c", "b", "1", "1"]),
        ("snake_case_ _a_ __ a_:b", ["snake_case_", "_a_", "a_", "b"]),
        ("women's WOMEN’S", ["women", "women"]),
        ("this is not for the", []),
        ("Nike™ ★ ®", ["nike", "™", "★", "®"]),
        ("❤️❤ 👩‍❤️‍👨 👍🏽 🇺🇸🇬🇧🇺", ["❤️", "❤", "👩‍❤️‍👨", "👍🏽", "🇺🇸", "🇬🇧"]),
        ("漢字あア 한글", ["漢", "字", "あ", "ア", "한글"]),
        ("café naïve", ["café", "naïv"]),
        ("1\ufe0f\u20e3 #\u20e3 ❤\ufe0e", ["1\ufe0f\u20e3", "#\u20e3", "❤"]),
        ("", []),
        (" \t\n-/,.!", []),
        ("\ud800 x\udfffy", ["x", "y"]),
    ],
)
def test_words_are_those_of_lucene(text, expected):
    """What Lucene 9.5 with Anserini's default analyzer answered."""
    assert sorted(terms(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("us", "us"),
        ("technology", "technolog"),
        ("assembly", "assembl"),
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("bled", "bled"),
        ("sized", "size"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("possibly", "possibl"),
        ("analogies", "analog"),
        ("vietnamization", "vietnam"),
        ("hopefulness", "hope"),
        ("electricity", "electr"),
        ("adoption", "adopt"),
        ("onion", "onion"),
        ("replacement", "replac"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("controlling", "control"),
        ("roll", "roll"),
        ("generalizations", "gener"),
        ("1.6oz", "1.6oz"),
    ],
)
def test_stems_are_porters_with_his_later_changes(word, expected):
    assert stem(word) == expected


def test_words_over_255_characters_are_cut():
    assert [len(token) for token in tokens("a" * 600)] == [255, 255, 90]
    assert tokens("a" * 256 + ".b") == ["a" * 255, "a.b"]
    assert max(map(len, tokens("ab." * 100))) == 254


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
@settings(max_examples=300, deadline=None)
def test_the_short_way_for_ascii_gives_what_the_full_rules_give(text):
    assert sorted(tokens(text)) == sorted(_unicode().findall(text.lower()))


@given(st.text(alphabet="ab1_.:'\u2019, é漢☃\u200d\ufe0f🏽", max_size=40))
@settings(max_examples=300, deadline=None)
def test_mixed_text_gives_what_the_full_rules_give(text):
    assert sorted(tokens(text)) == sorted(_unicode().findall(text.lower()))


@pytest.mark.parametrize(
    "piece", ["_", "a_", "a.", "#", "\u200d", "_\u0301", "é", "☃\u200d", "🇺", "'", "漢", "1\ufe0f", "ก", "a" * 50 + " é "]
)
def test_hundred_thousand_characters_of_anything_take_moments(piece):
    began = time.perf_counter()
    terms(piece * (100_000 // len(piece)))
    assert time.perf_counter() - began < 60  # by the square of the length it would be many minutes
