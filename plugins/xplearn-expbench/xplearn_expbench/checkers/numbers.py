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
        (r"\\left|\\right|\\[!,;: ]|`|(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)", ""),
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
_GOES_ON = re.compile(r"[.,:/_]\d|(?:[ \t]+[a-z]+){0,2}[ \t]*(?:[-+*/^×÷]|\\times|\\cdot|\\div|[xX](?=[ \t]*\d))[ \t]*[$€£¥(]?[-.]?\d")
_SCALED = re.compile(
    r"""[ \t]?(?:[!²³⁰-₉½¼¾√π]|\*\*|\^(?![ \t]?\{?[ \t]?\\(?:circ|degree))|\\(?!text|mbox|mathrm|circ|degree|q?quad|[%$\])}])[A-Za-z])
    |[ \t]?(?:[kKmMbBnxyzi]|bn|mn|mil|pi|sqrt)(?!\w)
    |(?!(?:st|nd|rd|th|%|cm|mm|km|kg|mg|g|ml|l|ft|in|lbs?|oz|mph|am|pm|hrs?|h|mins?|s|secs?|c|f)(?![^\W_]))[A-Za-z]
    |[-–+][ \t]?(?:$|\w)
    |[ \t]+(?:[a-z]+[ \t]+)?(?:hundred|thousand|lakh|crore|[mbtr]+illion|dozen|score|squared|cubed|factorial|to[ ]the[ ]power)s?\b
    |[ \t]+(?:[a-z]+[ \t]+)?and[ ](?:a|an|one|two|three|four|five)[ -](?:half|third|quarter|fifth|sixth|eighth|tenth)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What makes another number of the one before it."""
_ANOTHER = re.compile(
    r"""(?:[ \t]+[a-z]+){0,2}[ \t]*[,;]?[ \t]*\(?(?:\b(?:or|to|and|through|till|until|versus|vs)\b|[,;|&–—])
        [ \t]*(?:maybe|perhaps|even|then)?[ \t]*[$€£¥(]?[-.]?\d
    |[ \t]+(?:(?:days?|weeks?|months?|years?|hours?|minutes?|seconds?|feet|foot|ft|pounds?|lbs?|met(?:er|re)s?|km|kg|dollars?)[ \t]+)?
        [$€£¥]?[-.]?\d
    |.*\b(?:no[ ]?[,.:;!–-]|no[ ]wait|wait|actually|sorry|correction)(?!\w).*\d
    |[^\d]{0,20}\b(?:wrong|incorrect|false|(?:is|was)[ ]not[ ](?:right|correct|true|it|the))\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What names a second number, or takes back the one before it."""
_LIMITED = re.compile(
    r"""(?:\b(?:not|never|neither|nor|cannot|except|(?:any\w*|all|every\w*)[ ]but|(?:other|rather)[ ]than|instead[ ]of)\b|n['’]t\b)
        [^\d.,;:=]{0,25}$
    |(?:\b(?:below|under|above|over|between|(?:less|more|fewer|greater)[ ]than(?:[ ]or[ ]equal[ ]to)?|at[ ](?:least|most)|up[ ]to)\b
        |[<>≤≥≠≮≯]=?|\\(?:n?leq?|n?geq?|neq?|lt|gt)(?![A-Za-z]))[\s$€£¥({]*$
    |\d[^\d.;=]{0,20}\bor\b[^\d.;=]{0,15}$|\bbetween\b[^;=]{0,40}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What before a number says that it isn't the one, or not the only one."""
_APPLIED = re.compile(
    r"(?:[A-Za-z\]^_](?<!\\text)(?<!box)(?<!boxed)(?<!bf)(?<!rm)[({\[]|(?:sqrt|root|log|ln|sin|cos|tan)[ \t]?[({\[]?|[√∛^]"
    r"|[\d)}][ \t]?[/*×÷]|-[ \t]?[({\[])[ \t$({\[]*$"
)
"""What before a number makes another one of it."""
_SEEN = 200
"""Characters on either side of a number that are looked at."""


def whole(text: str) -> Fraction | None:
    """The number that a text is, up to a currency or percent sign and a full stop; None where it is anything else."""
    plain = _plain(text).strip().removesuffix(".").rstrip("% ")
    found = _NUMBER.match(plain)
    return _value(found) if found and found.end() == len(plain) else None


def first(text: str) -> Fraction | None:
    """The first number of a marked answer; of a calculation, the one after its last ``=``.

    Returns:
        None where there is none, where it cannot be told which is meant (``10-12``, ``9 * 2``, ``1,5``, ``3:30``, ``12 or 13``, ``1 000``),
        and where it is denied, a limit, or part of another value (``not 5``, ``<5``, ``5k``, ``2 million``, ``5!``, ``sqrt(144)``).
    """
    plain = _plain(text)
    found = _NUMBER.search(plain)
    if found and _GOES_ON.match(plain, found.end()) and "=" in plain[found.end() :]:
        plain = plain.rpartition("=")[2]
        found = _NUMBER.search(plain)
    if found is None or _GOES_ON.match(plain, found.end()) or _ANOTHER.match(plain, found.end(), found.end() + _SEEN):
        return None
    return _value(found) if _is_meant(found) else None


def last(text: str) -> Fraction | None:
    """The last number of a text with a digit at both ends; None where there is none, or where it isn't what is meant, as in ``first``."""
    read, value = None, None
    for found in _NUMBER.finditer(_BULLET.sub("", _plain(text))):
        number = _value(found)
        read, value = (read, value) if number is None else (found, number)
    return value if read and _is_meant(read) else None


def _is_meant(found: re.Match[str]) -> bool:
    text, start, end = found.string, found.start(), found.end()
    before = text[max(0, start - _SEEN) : start].rpartition("\n")[2]
    return not (_SCALED.match(text, end, end + _SEEN) or _LIMITED.search(before) or _APPLIED.search(before))


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
