"""Porter's stemmer as Lucene has it: the algorithm of 1980 with the author's two later changes.

The changes are ``bli`` to ``ble`` (for ``abli`` to ``able``) and ``logi`` to ``log``; words of one or two letters stay as they are.

Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, and the notes on the author's page.
"""

from __future__ import annotations

import re

_VOWELS = frozenset("aeiou")
_GROUP = re.compile("v+c")

_SECOND = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_THIRD = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_FOURTH_ENDS = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
_FOURTH = dict.fromkeys(_FOURTH_ENDS.split(), "")


def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) <= 2:
        return word
    word = _first(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _SECOND, 0)
    word = _replaced(word, _THIRD, 0)
    if word.endswith(("sion", "tion")) or not word.endswith("ion"):
        word = _replaced(word, _FOURTH, 1)
    return _tidied(word)


def _shape(word: str) -> str:
    """``c`` for each consonant and ``v`` for each vowel; ``y`` is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How many times a run of vowels is followed by a consonant."""
    return len(_GROUP.findall(_shape(word)))


def _first(word: str) -> str:
    """Plurals, ``-ed`` and ``-ing``."""
    if word.endswith("s"):
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif not word.endswith("ss"):
            word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(rest: str) -> str:
    """What a word looks like that has lost ``-ed`` or ``-ing``."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short(rest) else rest


def _doubled(word: str) -> bool:
    """Whether it ends in the same consonant twice."""
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant, the last not w, x or y."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


def _replaced(word: str, suffixes: dict[str, str], above: int) -> str:
    """The longest of the suffixes replaced, where what stands before it measures more than ``above``."""
    for length in range(min(7, len(word)), 1, -1):
        suffix = word[-length:]
        if suffix in suffixes:
            rest = word[:-length]
            return rest + suffixes[suffix] if _measure(rest) > above else word
    return word


def _tidied(word: str) -> str:
    """The final ``-e`` and double ``-l``."""
    measure = _measure(word)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure > 1 else word
