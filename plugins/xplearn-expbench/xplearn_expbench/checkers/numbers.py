"""Numbers in prose and in LaTeX, read exactly: signs, thousands, currencies, percent signs, decimals, fractions."""

from __future__ import annotations

import re
from fractions import Fraction

from xplearn_expbench.checkers.normal import ascii_signs

_LONGEST = 60
"""A number of more characters is none."""
_REWRITES = tuple(
    (re.compile(pattern), to)
    for pattern, to in (
        (r"\\left|\\right|\\[!,;: ]|\*\*|__|`", ""),
        (r"\{,\}", ","),
        (r"\\([$%])", r"\1"),
        (r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))", ""),
        (r"(?<=\d)\s?\\[dtc]?frac", r" \\frac"),
        (r"\\[dtc]?frac\s?\{\s?(-?\d+)\s?\}\s?\{\s?(\d+)\s?\}", r"\1/\2"),
        (r"\\[dtc]?frac\s?(\d)(\d)(?!\d)", r"\1/\2"),
        (r"(?i)\b(?:minus|negative)[ \t]+(?=[$€£¥.]?\d)", "-"),
    )
)
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+", re.MULTILINE)
_NUMBER = re.compile(
    r"(?P<sign>[-+][ \t]?)?(?:[$€£¥][ \t]?(?P<inner>-)?)?(?<![A-Za-z0-9_])(?<!\d[.,])(?=\.?\d)"
    r"(?P<decimal>(?:\d++(?:,\d++)*+)?+(?:\.\d++)?+(?:[eE][-+]?\d{1,2}(?!\w|\.\d))?)(?![eE][-+]?\d)"
    r"(?:/(?P<divisor>\d+)|[ \t](?P<part>\d+/\d+))?"
)
_IN_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}(?![\d,])")
_GOES_ON = re.compile(r"[.,:/]\d|(?:[ \t]+[a-z]+){0,2}[ \t]*(?:[-+*/^×÷]|\\times|\\cdot|\\div|[xX](?=[ \t]*\d))[ \t]*[$€£¥(]?[-.]?\d")


def whole(text: str) -> Fraction | None:
    """The number that a text is, up to a currency or percent sign and a full stop; None where it is anything else."""
    plain = _plain(text).strip().removesuffix(".").rstrip("% ")
    found = _NUMBER.match(plain)
    return _value(found) if found and found.end() == len(plain) else None


def first(text: str) -> Fraction | None:
    """The first number of a marked answer; of a calculation, the one after its last ``=``.

    Returns:
        None where there is none, or where it cannot be told which is meant (``10-12``, ``9 * 2``, ``1,5``, ``3:30``).
    """
    plain = _plain(text)
    found = _NUMBER.search(plain)
    if found and _GOES_ON.match(plain, found.end()) and "=" in plain[found.end() :]:
        plain = plain.rpartition("=")[2]
        found = _NUMBER.search(plain)
    if found is None or _GOES_ON.match(plain, found.end()):
        return None
    return _value(found)


def last(text: str) -> Fraction | None:
    """The last number of a text with a digit at both ends; None where there is none."""
    value = None
    for found in _NUMBER.finditer(_BULLET.sub("", _plain(text))):
        read = _value(found)
        value = value if read is None else read
    return value


def _plain(text: str) -> str:
    text = ascii_signs(text)
    for pattern, to in _REWRITES:
        text = pattern.sub(to, text)
    return text


def _value(found: re.Match[str]) -> Fraction | None:
    decimal, divisor, part = found.group("decimal", "divisor", "part")
    if len(found[0]) > _LONGEST or ("," in decimal and not _IN_THOUSANDS.match(decimal)):
        return None
    try:
        value = Fraction(decimal.replace(",", "")) / int(divisor or 1) + Fraction(part or 0)
    except ZeroDivisionError:
        return None
    return -value if found["inner"] or _is_negative(found) else value


def _is_negative(found: re.Match[str]) -> bool:
    """Whether a minus before the number is its sign, and doesn't take it from what stands before."""
    if not (found["sign"] or "").startswith("-"):
        return False
    before = found.string[: found.start()][-20:]
    adjacent, last = before[-1:], before.rstrip()[-1:]
    return not (adjacent.isalnum() or last.isdigit() or (last and last in ")]}%"))
