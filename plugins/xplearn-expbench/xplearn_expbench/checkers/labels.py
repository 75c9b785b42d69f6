"""Letters that stand for options, read from what is said about them: asserted, denied, taken back, or one of several."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from xplearn_expbench.checkers.normal import light

_NAMED = r"(?:(?:the )?(?:option|choice|letter|answer) )?"
_ALONE = re.compile(rf"{_NAMED}[(\[{{<]?\s?([A-Z])\s?[)\]}}>.:!,;]{{0,3}}", re.IGNORECASE)
_PLACE = re.compile(rf"{_NAMED}[(\[]?(\d{{1,2}})[)\].:]{{0,2}}", re.IGNORECASE)
_LISTED = re.compile(r"(?:(?:both|either|and|or|then|[a-z])\b[\W_]*)+", re.IGNORECASE)

_LEAD = re.compile(rf"{_NAMED}(?:[(\[{{<]\s?([A-Z])\s?[)\]}}>][.:,]?|([A-Z])(?=[\s).:,;!]|$)[).:,;!]*)(?!\S)", re.IGNORECASE)
_VERB = re.compile(r"(?:is|was|are|can|could|would|will|has|does|should|must|seems?|may|might|do|and|or)\b", re.IGNORECASE)
_JOINING = re.compile(r"[\s,;:.(–—-]*(?:(?:or|and|also|maybe|perhaps|possibly|probably)\s+)*", re.IGNORECASE)

_CLAUSE = re.compile(r"(?<![.;!?…])[.;!?…]++(?=\s|$)|\n|,\s*(?:and\s+)?(?=(?:so|therefore|thus|hence)\b)", re.IGNORECASE)
_BECAUSE = re.compile(r"[\s,;–—-]{0,4}\b(?:because|since)\b[^\n]*", re.IGNORECASE)
_NOT_OTHERS = re.compile(
    r"[,;.]?\s(?i:and\s)?(?i:not|rather than|instead of)\s(?:[(\[]?[A-Z](?![\w'’])[)\]]?|(?i:the (?:others?|rest)))\s*\.?(?=\n|$)"
)
_TAKEN_BACK = re.compile(
    r"\b(?:no|wait|sorry|actually|correction|scratch that|i mean|oops|hmm+)\s*(?:[,.:;!?…–—-]|$)"
    r"|\b(?:no|hmm+),?\s+(?:wait|it|that|actually)\b|\b(?-i:[A-Z])[)\]]?\?",
    re.IGNORECASE,
)
_DISOWNED = re.compile(
    r"\W*(?:(?:that|this|it|which)\s?(?:['’]s|is|was)\s(?:not\s(?:right|correct|true|it|the)\b|wrong|incorrect|false)"
    r"|(?:wrong|incorrect|false|not?|nope|never)\b)",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:not?|nope|never|neither|nor|none|cannot|without|except|excluding|incorrect|wrong|false|invalid|unlikely|impossible|hardly"
    r"|doubt\w*|least|eliminat\w+|exclud\w+|reject\w*|avoid\w*|discard\w*|dismiss\w*|rul(?:e|es|ed|ing)\s(?:it\s)?out|out|other than"
    r"|rather than|instead of|far from|opposite of|worst|(?:all|any\w*|every\w*|nothing) but|either)\b|n['’]t\b",
    re.IGNORECASE,
)

_STANDING = re.compile(r"(?<![\w'’])(?:([AI])(?!['’]?\w|\s+(?!is\b|was\b|and\b|or\b|nor\b|but\b|then\b)[a-z])|([B-HJ-Z]))(?![\w'’])")
_SETTLED = re.compile(
    r"(?<!\w)[(\[{<]\s?([A-Z])\s?[)\]}>]"
    r"|\b(?i:option|choice|letter) ([A-Z])(?![\w'’])"
    r"|(?:^|[:,>]\s*|\b(?i:is|be|was|so|then|thus|hence|therefore|answer|pick|choose|select|say|with|for|likely|probably|clearly|definitely"
    r"|certainly)\s)([A-Z])$"
    r"|^([A-Z])(?=[).:,]|\s[–—-]\s|$)"
    r"|(?<![\w'’])([A-Z])(?=\s+is\s+(?:\w+ly\s+)?(?:the\s+)?(?:correct|right|best|true|answer)\b)"
)


def alone(text: str) -> int | None:
    """The option that a text names by its letter and by nothing else, in either case."""
    found = _ALONE.fullmatch(text)
    return _index(found[1]) if found else None


def listed(text: str) -> set[int]:
    """The options of a text that is nothing but letters (``b, a or c``)."""
    return {_index(letter) for letter in re.findall(r"\b[A-Za-z]\b", text)} if _LISTED.fullmatch(text) else set()


def place(text: str, options: Sequence[str]) -> int | None:
    """The option that a text names by its place from 1, alone or before the option's own text: ``1.`` may number a thought."""
    found = _PLACE.match(text)
    if found is None:
        return None
    index, rest = int(found[1]) - 1, light(text[found.end() :].lstrip(" -–—:."))
    return index if not rest or (0 <= index < len(options) and rest == options[index]) else None


def stated(text: str, options: Sequence[str]) -> set[int]:
    """The options that a text settles on by their letters; none where it denies or takes back, several where it names several.

    A letter before another option's text means either. ``options`` are their texts, made comparable by ``light``.
    """
    if _TAKEN_BACK.search(text):
        return set()
    text = _NOT_OTHERS.sub("", _BECAUSE.sub("", text))
    lead = _LEAD.match(text)
    if lead is None:
        return _settled(text, len(options))
    index, rest = _index(lead[1] or lead[2]), text[lead.end() :].lstrip()
    letter, said = ascii_uppercase[index], _JOINING.sub("", rest, count=1)
    known = _begins_with(light(said), options)
    if known is not None:
        return {index, known} | _settled(f"{letter}. {said[len(options[known]) :].lstrip(' ).,:;')}", len(options))
    if _VERB.match(rest) or lead[0][-1:].isalpha():
        return _settled(text, len(options))
    return _settled(f"{letter}. {rest.lstrip(' –—-')}", len(options))


def _begins_with(text: str, options: Sequence[str]) -> int | None:
    """The longest option that a text begins with, to the end of a word."""
    begun = [at for at, option in enumerate(options) if option and re.match(rf"{re.escape(option)}(?!\w)", text)]
    return max(begun, key=lambda at: len(options[at]), default=None)


def _settled(text: str, many: int) -> set[int]:
    named: set[int] = set()
    settled = False
    for clause in filter(None, map(str.strip, _CLAUSE.split(text))):
        if settled and _DISOWNED.match(clause):
            return set()
        if _DENIAL.search(clause):
            continue
        firm = {_index(letter) for found in _SETTLED.finditer(clause) for letter in found.groups() if letter}
        loose = {_index(found[1] or found[2]) for found in _STANDING.finditer(clause)}
        named |= firm | {index for index in loose if index < many}
        settled = settled or bool(firm)
    return named if settled else set()


def _index(letter: str) -> int:
    return ascii_uppercase.find(letter.upper())
