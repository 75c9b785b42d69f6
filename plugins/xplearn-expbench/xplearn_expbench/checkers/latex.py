"""Normal forms of short LaTeX answers, and the answers on which they alone can decide."""

from __future__ import annotations

import re
from fractions import Fraction

from xplearn_expbench.checkers.normal import ascii_signs, visible

_SIGNS = str.maketrans(
    {"×": r"\times ", "÷": r"\div ", "π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt", "°": r"^\circ", "∪": r"\cup ", "·": r"\cdot "}
)
_UNIT = r"\\(?:text|textrm|mbox|mathrm)\s*\{[^{}]*\}(?:\^\{?\d\}?)?"
_REWRITES = tuple(
    (re.compile(pattern), to)
    for pattern, to in (
        (r"\\[\[\]()]|\$", ""),
        (r"\\(?:left|right|displaystyle|limits)(?![A-Za-z])|\\[!,;: ]|~|\\q?quad(?![A-Za-z])", ""),
        (r"\\%|%", ""),
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\^\s*\{?\s*(?:\\circ|\\degree)\s*\}?|\\degree(?![A-Za-z])", ""),
        (rf"(?<=[^\s])\s*{_UNIT}\s*$", ""),
        (r"\\(?:text|textrm|textbf|mbox|mathrm|mathbf)\s*\{([^{}]*)\}", r"\1"),
        (r"\\frac\s*(\d)\s*(?=[\d{])", r"\\frac{\1}"),
        (r"(\\frac\s*\{[^{}]*\})\s*(\d)", r"\1{\2}"),
        (r"\\sqrt\s*(\d)", r"\\sqrt{\1}"),
        (r"([_^])\s*\{\s*(\w)\s*\}", r"\1\2"),
        (r"^\s*[A-Za-z]\s*(?:=|\\in(?![A-Za-z]))\s*", ""),
        (r"\s+", ""),
        (r"^\(([A-Z])\)$", r"\1"),
    )
)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)|[+-]?\d+/\d+")
_FRACTION = re.compile(r"(?P<sign>[+-]?)(?P<ones>\d*)\\frac\{(?P<top>\d+|(?<=^\\frac\{)[+-]\d+)\}\{(?P<under>\d+)\}")
_TEN = re.compile(r"(?:\\times|\\cdot)10\^(?:\{(-?\d{1,2})\}|(\d))$")
_IN_WORDS = re.compile(r"(?<=\d)\s+[A-Za-z]{2}[A-Za-z ]*\.?\s*$")
_BASED = re.compile(r"\d+_(?:\d|\{\d+\})")
_WORDS = re.compile(r"(?:[A-Z]|[A-Za-z]{2,})")
_LONGEST = 60


def normal(answer: str) -> str:
    r"""One form for spacing, sizes of brackets, short fractions and roots, units, degrees, currency, percent, ``x=`` and thousands.

    Units are dropped, not judged: ``5.4`` is as good as ``5.4 \text{ cents}``.
    """
    text = ascii_signs(visible(answer)).translate(_SIGNS).replace("\\$", "").strip()
    text = text.rstrip("., ")
    for pattern, to in _REWRITES:
        text = pattern.sub(to, text)
    text = text.rstrip(".,")
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


def decided(gold: str, answer: str) -> bool | None:
    """Whether the answer equals the gold one, where their forms alone can tell; None where they can't.

    They can where both are the same; where the gold one is a number: then the answer has to be one too, and worked out (``2+2`` is not
    ``4``, as the question repeated would be right otherwise; of ``2+2=4`` the last side counts); where it is in a base (``52_8`` is neither
    ``52`` nor ``52_9``); where it is a word or an option's letter.
    """
    wanted, given = normal(gold), normal(answer)
    if wanted == given:
        return bool(given)
    if not given or _BASED.fullmatch(wanted):
        return False
    if "\\text" in gold and _WORDS.fullmatch(wanted):
        return wanted.casefold() == given.casefold()
    value = rational(wanted)
    if value is None:
        return None
    number = rational(normal(_IN_WORDS.sub("", answer.rpartition("=")[2])))
    return number is not None and (number == value or ("%" in answer and number == 100 * value))


def rational(normal_form: str) -> Fraction | None:
    """The value of a number in normal form: whole, decimal, fraction, mixed, or times a power of ten; None for anything else.

    More than 60 characters are no number.
    """
    if len(normal_form) > _LONGEST:
        return None
    plain, _, power = _TEN.sub(r"e\1\2", normal_form).partition("e")
    found = _FRACTION.fullmatch(plain)
    try:
        if found is None:
            return Fraction(plain) * Fraction(10) ** int(power or 0) if _DECIMAL.fullmatch(plain) else None
        value = int(found["ones"] or 0) + Fraction(int(found["top"]), int(found["under"]))
    except ZeroDivisionError:
        return None
    return None if power else -value if found["sign"] == "-" else value


def balanced(text: str) -> bool:
    """Whether each brace that opens closes; an answer cut off leaves one open."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0
