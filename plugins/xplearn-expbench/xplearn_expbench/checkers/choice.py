"""One option of several, by its letter, its place or its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase

from xplearn import DataError
from xplearn_expbench.checkers.labels import alone, listed, place, stated
from xplearn_expbench.checkers.marked import marked
from xplearn_expbench.checkers.normal import ascii_signs, light, lines, said, unwrapped
from xplearn_expbench.spec import Row, Verdict

_TEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}|\$")
_EMPHASIS = re.compile(r"[*`]|__")
_BECAUSE = re.compile(r"[\s,;–—-]{0,4}\b(?:because|since)\b.*", re.IGNORECASE | re.DOTALL)
_LED = re.compile(r"\A\s*(?:(?:so|then|thus|hence|therefore),?\s)?(?:it(?:['’]s| is| was| must be| has to be))\s", re.IGNORECASE)
_NUMERIC = re.compile(r"[\d½¼¾]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred)\b", re.IGNORECASE)


def check(row: Row, completion: str) -> Verdict:
    """Which option is meant, and whether it is the right one.

    Read are, after the last marker (``Answer:``, ``the answer is`` …) or else in the first and the last line: a letter alone in either
    case, with or without brackets and full stop (``B``, ``(b)``, ``<B>``, ``option B``); the text of one option exactly, alone or before
    its reason; a letter before its option's text or a reason (``B. Paris``, ``B (Paris)``); a place from 1 alone or before its option's
    text (``2``, ``2. Paris``), unless an option holds a number. Failing that, the one letter that the text settles on.

    A letter is an option's label before it is the text of one. An answer that denies (``not B``), takes back, lists letters, names a letter
    with another option's text, or differs between the first and the last line is none (``unparsed``). A letter or place beyond the options
    is read, and wrong.

    Raises:
        DataError: the row's answer is no index of its options.
    """
    options = row.choices
    if not isinstance(row.answer, int) or isinstance(row.answer, bool) or not 0 <= row.answer < len(options):
        raise DataError(row.id, f"the row's answer {row.answer!r} is no index of its {len(options)} options")
    found = _read(said(completion), options)
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
    texts = [light(option) for option in options]
    return set[int]().union(*(_meant(line, options) for line in ends)) or stated(_plain(text), texts)


def _meant(line: str, options: Sequence[str]) -> set[int]:
    texts, plain = [light(option) for option in options], _plain(line)
    exact = _with_text(line, texts) or _as_listed(light(plain), texts)
    by_letter = alone(plain)
    if by_letter is not None and (by_letter < len(options) or not exact):
        return {by_letter}
    if exact:
        return exact
    several = listed(plain)
    if len(several) > 1:
        return several
    if not any(map(_NUMERIC.search, options)):
        by_place = place(plain, texts)
        if by_place is not None:
            return {by_place}
    return stated(plain, texts)


def _plain(text: str) -> str:
    """Without TeX, emphasis and full-width signs."""
    return _LED.sub("", unwrapped(_EMPHASIS.sub("", ascii_signs(_without_tex(text)))))


def _with_text(line: str, texts: Sequence[str]) -> set[int]:
    """The options whose text a line is: as written, else without its reason, its ``it is`` and its TeX, in this order."""
    reasoned = _BECAUSE.sub("", line)
    short = _LED.sub("", reasoned)
    for form in (line, reasoned, short):
        if exact := {index for index, text in enumerate(texts) if text == light(form)}:
            return exact
    bare = light(_without_tex(short))
    return {index for index, text in enumerate(texts) if bare and bare in (text, light(_without_tex(text)))}


def _as_listed(line: str, texts: Sequence[str]) -> set[int]:
    return {at for at, (letter, text) in enumerate(zip(ascii_lowercase, texts, strict=False)) if line == f"{letter}. {text}"}


def _without_tex(text: str) -> str:
    return _TEX.sub(lambda tex: tex[1] or "", text)
