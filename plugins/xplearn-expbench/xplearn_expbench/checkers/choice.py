"""One option of several, by its letter, its number or its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from xplearn import DataError
from xplearn_expbench.checkers.marked import marked
from xplearn_expbench.checkers.normal import ascii_signs, light, lines, said, unwrapped
from xplearn_expbench.spec import Row, Verdict

_TEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}|\$")
_NAMED = r"(?:(?:the )?(?:option|choice|letter|answer) )?"
_LABEL = r"(?:[A-Z]|\d{1,2})"
_RIGHT = r"\s+is\s+(?:the\s+)?(?:correct|right|best|true|answer)\b"
_ALONE = re.compile(rf"{_NAMED}[(\[{{]?\s?({_LABEL})\s?[)\]}}.:]{{0,2}}", re.IGNORECASE)
_BEFORE = re.compile(
    rf"{_NAMED}(?:[(\[]({_LABEL})[)\]](?!\s+(?:is|was|are|can|would|could|isn)\b)[:.]?|({_LABEL})(?:[*_]*[).:](?=[\s*_])|(?=,\s|\s[-–—]\s|\s(?:because|since)\b))"
    rf"|[(\[]?({_LABEL})[)\]]?(?={_RIGHT}))",
    re.IGNORECASE,
)
_TWO = re.compile(rf"{_NAMED}[(\[]?({_LABEL})[)\].]{{0,2}}\s*(?:[,/&+]|\b(?i:or|and)\b)\s*(?i:{_NAMED})[(\[]?({_LABEL})(?![\w'’-])")
_MENTIONED = re.compile(r"[(\[]([A-Z])[)\]]|\b(?:option|choice|Option|Choice) ([A-Z])\b|(?<=\s)([A-Z])$")


def check(row: Row, completion: str) -> Verdict:
    """Which option is meant, and whether it is the right one.

    Read are, after the last marker (``Answer:``, ``the answer is`` …) or else in the first and the last line: a letter alone in either
    case, with or without brackets and full stop (``B``, ``(b)``, ``B.``, ``option B``); a letter before the reason or the option's text
    (``B. Paris``); the text of one option exactly; a number from 1 where no option reads so. Failing that, the one letter mentioned in
    brackets.

    An answer that can be read in two ways is none (``unparsed``): two letters (``B or C``), first and last line at odds, a letter before
    another option's text. A letter or number beyond the options is read, and wrong.

    Raises:
        DataError: the row's answer is no index of its options.
    """
    options = row.choices
    if not isinstance(row.answer, int) or isinstance(row.answer, bool) or not 0 <= row.answer < len(options):
        raise DataError(row.id, f"the row's answer {row.answer!r} is no index of its {len(options)} options")
    found = _read(said(completion), [light(option) for option in options])
    if len(found) != 1:
        return Verdict(score=0.0, status="unparsed")
    index = found.pop()
    right = index == row.answer
    parsed = ascii_uppercase[index] if 0 <= index < len(ascii_uppercase) else str(index + 1)
    return Verdict(score=float(right), status="correct" if right else "wrong", parsed=parsed)


def _read(text: str, options: Sequence[str]) -> set[int]:
    """Every way to read a text: none, one, or several."""
    found = marked(text)
    if found is not None:
        return _meant(found, options)
    ends = lines(text)[:1] + lines(text)[-1:]
    return set[int]().union(*(_meant(line, options) for line in ends)) or _mentioned(text)


def _meant(line: str, options: Sequence[str]) -> set[int]:
    plain = unwrapped(_TEX.sub(lambda tex: tex[1] or "", line))
    exact = {index for index, option in enumerate(options) if option == light(plain)}
    plain = ascii_signs(plain)
    alone = _ALONE.fullmatch(plain)
    if alone and not (exact and alone[1].isdigit()):
        return {_index(alone[1])}
    two = _TWO.match(plain) or _TWO.fullmatch(plain.upper())
    if exact:
        return exact
    if two and two[1] != two[2]:
        return {_index(two[1]), _index(two[2])}
    before = _BEFORE.match(plain)
    return _with_text(before, options) if before else _mentioned(plain)


def _with_text(before: re.Match[str], options: Sequence[str]) -> set[int]:
    """A label and what follows it. A number needs its own option's text: ``1.`` alone may number a thought."""
    label = before[1] or before[2] or before[3]
    rest = light(before.string[before.end() :].lstrip(" -–—:."))
    index, named = _index(label), {at for at, option in enumerate(options) if option == rest}
    if label.isdigit() and index not in named:
        return named
    return {index} if index in named else {index} | named


def _mentioned(text: str) -> set[int]:
    return {_index(found[1] or found[2] or found[3]) for found in _MENTIONED.finditer(text)}


def _index(label: str) -> int:
    return int(label) - 1 if label.isdigit() else ascii_uppercase.index(label.upper())
