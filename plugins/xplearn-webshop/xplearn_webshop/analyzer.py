"""Text to search terms, as Lucene's English analyzer does it.

Word breaks of UAX #29 with Lucene's rules for emoji, East Asian and South-East Asian scripts; possessives off; lower case; 33 stop words
out; Porter stems. Held against Lucene 9.5 over every character of Unicode 12: equal but for characters that Unicode added later, which
are tokens here and none there.
"""

from __future__ import annotations

import functools
import re

import regex

from xplearn_webshop.porter import stem

_STOPPED = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with"
)
STOP_WORDS = frozenset(_STOPPED.split())
_LONGEST = 255
"""Characters of a token; Lucene cuts longer ones."""

_ASCII_PART = r"(?:[a-z]+(?:[.:'][a-z]+)*|[0-9]+(?:[.,;'][0-9]+)*)"
_ASCII = re.compile(rf"_{{0,255}}+{_ASCII_PART}(?:_*{_ASCII_PART})*_*")
_OTHER_WORD = re.compile(r"(?<!\S)[^\s\x80-\U0010ffff]*+[^\s\x00-\x7f]\S*")
_POSSESSIVE = ("'s", "’s", "＇s")

_EXTRA = r"[\p{WB=Format}\p{WB=Extend}\p{WB=ZWJ}]"
_PLAIN_EXTRA = rf"[{_EXTRA}--[\ufe0e\ufe0f]]"
_NOT_LETTERS = r"\u00b8\u02e5-\u02eb\u0558\u055a\u058a"
"""Letters of newer Unicode only."""
_PICTURES = (
    r"[©®‼⁉™ℹ\u2194-\u2199↩↪⌚⌛⌨⎈⏏\u23e9-\u23f3\u23f8-\u23faⓂ▪▫▶◀\u25fb-\u25fe\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705"
    r"\u2708-\u2712✔✖✝✡✨✳✴❄❇❌❎\u2753-\u2755❗\u2763-\u2767\u2795-\u2797➡➰➿⤴⤵⬅⬆⬇⬛⬜⭐⭕〰〽㊗㊙\U0001f000-\U0001f0ff"
    r"\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5"
    r"\U0001f201-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa\U0001f400-\U0001f53d"
    r"\U0001f546-\U0001f64f\U0001f680-\U0001f6ff\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff\U0001f80c-\U0001f80f\U0001f848-\U0001f84f"
    r"\U0001f85a-\U0001f85f\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001fffd]"
)
"""Extended_Pictographic as of Unicode 12."""


def terms(text: str) -> list[str]:
    """The search terms of a text, repeats kept, in no particular order.

    Args:
        text: anything, in any case; lone surrogates and emoji included.
    """
    return [term for token in tokens(text) if (term := term_of(token))]


def tokens(text: str) -> list[str]:
    """The lower-case words of a text, before stop words and stems, those with other than ASCII characters last."""
    text = text.lower()
    if text.isascii():
        found = _ASCII.findall(text)
    else:
        found = _ASCII.findall(_OTHER_WORD.sub(" ", text))
        for word in _OTHER_WORD.findall(text):
            found += _unicode().findall(word)
    if max(map(len, found), default=0) > _LONGEST:
        return [piece for token in found for piece in _pieces(token)]
    return found


def term_of(token: str) -> str:
    """What a token is searched by; empty for a stop word."""
    if token.endswith(_POSSESSIVE):
        token = token[:-2]
    return "" if token in STOP_WORDS else stem(token)


def _pieces(token: str) -> list[str]:
    """A long token in tokens of at most 255 characters."""
    pieces, start = [], 0
    while start < len(token) and (match := _unicode().search(token[start : start + _LONGEST])):
        pieces.append(match.group())
        start += match.end()
    return pieces


@functools.cache
def _unicode() -> regex.Pattern[str]:
    """What a token is: a word, a keycap, a flag, an emoji sequence, an ideograph, or a run of South-East Asian letters."""
    extra = rf"{_EXTRA}*+"
    letter = rf"[[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]--[{_NOT_LETTERS}]]{extra}"
    hebrew = rf"\p{{WB=Hebrew_Letter}}{extra}"
    digit = rf"\p{{WB=Numeric}}{extra}"
    kana = rf"\p{{WB=Katakana}}{extra}"
    low_line = rf"\p{{WB=ExtendNumLet}}{extra}"
    in_word = rf"[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{extra}"
    in_number = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{extra}"
    single, double = rf"\p{{WB=Single_Quote}}{extra}", rf"\p{{WB=Double_Quote}}{extra}"
    kanas = rf"{kana}(?:(?:{low_line})*{kana})*"
    number = rf"{digit}(?:(?:(?:{low_line})*|{in_number}){digit})*"
    letters = rf"{letter}(?:(?:(?:{low_line})*|{in_word}){letter})*"
    quoted = rf"{hebrew}(?:{double}{hebrew}|{single}(?!{letter}))"
    part = rf"(?:{kanas}|(?:{quoted}|{number}|{letters})+)"
    word = rf"(?:{low_line}){{0,255}}+{part}(?:(?:{low_line})+{part})*(?:{low_line})*"
    keycap = rf"[0-9#*]{_PLAIN_EXTRA}{{0,255}}\ufe0f?\u20e3{_PLAIN_EXTRA}*+"
    flag = rf"\p{{WB=Regional_Indicator}}{extra}\p{{WB=Regional_Indicator}}{extra}"
    picture, tone = rf"{_PICTURES}{_PLAIN_EXTRA}*\ufe0f?", rf"[\U0001f3fb-\U0001f3ff]{_PLAIN_EXTRA}*"
    emoji = rf"(?:\u200d{{0,255}}+{picture}|{tone})(?:(?:(?<=\u200d)|\u200d)(?:{picture}|{tone}))*"
    ideograph = rf"[\p{{Script=Han}}\p{{Script=Hiragana}}]{extra}"
    south_east = rf"(?:\p{{LB=SA}}{extra})+"
    return regex.compile("|".join((word, keycap, flag, emoji, ideograph, south_east)), regex.V1)
