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
_NAME = r"(?:\\text\{[^{}]*\}|\\?[A-Za-z]+)(?:_(?:\{[^{}]*\}|\w))?'?(?:\s*\([^()=]*\))?"
_NAMED = re.compile(rf"[\s$]*(?P<name>{_NAME})\s*(?:=|\\in(?![A-Za-z]))\s*(?P<rest>.*)", re.DOTALL)
_AGAIN = re.compile(rf"(?P<before>,|\bor\b|\band\b|\\text\{{\s*(?:or|and)\s*\}})\s*(?P<name>{_NAME})\s*=\s*")
_CALCULATION = re.compile(r"(?:[\d\s.,+*/()^{}$=-]|\\(?:times|cdot|div|[dtc]?frac|left|right|[,;!])(?![A-Za-z]))*=")
_QUIET = re.compile(r"\\(?:left|right|displaystyle)(?![A-Za-z])|\\[!,;:\[\]() ]|[\s$]")
_LONGEST = 60


def normal(answer: str) -> str:
    r"""One form for spacing, sizes of brackets, short fractions and roots, units, degrees, currency, percent and thousands.

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
    ``52`` nor ``52_9``); where it is a word or an option's letter; where one is a set and the other a pair.

    An equation is right only where the gold one is an equation, or as a name and its value: ``y = 2x+1`` is ``2x+1``. The name has to be
    the gold one's where it has one (``z = 2x+1`` is not ``y = 2x+1``), and another than the gold one's variables (``x = 2x+1`` is not).
    """
    name, bare = _value(gold)
    said, value = _value(answer)
    wanted, given = normal(bare), normal(value)
    if "=" in given and "=" not in wanted and not _CALCULATION.match(value):
        return None if "=" in gold and not said else False
    if said and (said != name if name else re.search(rf"(?<![A-Za-z]){re.escape(said)}(?![A-Za-z])", bare)):
        return False
    return _same(gold, value, wanted, given)


def _same(gold: str, answer: str, wanted: str, given: str) -> bool | None:
    if wanted == given:
        return bool(given)
    set_and_pair = {wanted[0], given[0]} == {"(", "\\"} and "\\{" in (wanted[:2], given[:2]) if wanted and given else False
    if not given or set_and_pair or _BASED.fullmatch(wanted):
        return False
    if "\\text" in gold and _WORDS.fullmatch(wanted):
        return wanted.casefold() == given.casefold()
    value = rational(wanted)
    if value is None:
        return False if "=" in given and "=" not in wanted else None
    number = rational(normal(_IN_WORDS.sub("", answer.rpartition("=")[2])))
    return number is not None and (number == value or ("%" in answer and number == 100 * value))


def _value(answer: str) -> tuple[str, str]:
    """The name that an answer gives a value to, and the value; without a name, all of it. ``x=1, x=2`` names ``x``."""
    found = _NAMED.fullmatch(answer)
    if found is None:
        return "", answer
    name = found["name"]
    rest = _AGAIN.sub(lambda again: again["before"] if again["name"] == name else again[0], found["rest"])
    return normal(name), rest


def repeats(answer: str, question: str) -> bool:
    """Whether an answer of several signs stands in the question as it is, up to spacing."""
    said = _QUIET.sub("", answer)
    return len(said) > 2 and said in _QUIET.sub("", question)


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
