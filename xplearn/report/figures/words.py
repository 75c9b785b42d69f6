"""How wide words are, and how they are cut or wrapped to fit: an SVG does neither."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

TEXT = 14.0
"""Size of names and headings, in units of a drawing."""
SMALL = 13.0
"""Size of everything else; 10 pixels where a drawing of 480 units is 370 pixels wide."""
BOLD = 1.09
"""How much wider bold words are."""
ELLIPSIS = "…"

_WIDTHS = {
    0.24: "'|ijl",
    0.28: " !,./:;I[\\]ft",
    0.335: '"()-`r{}*',
    0.5: "Jckvsxyz^",
    0.56: "#$?L_abdeghnopqu0123456789",
    0.585: "+<=>~≈−±×",
    0.67: "&ABEKPSVXYFTZ",
    0.73: "CDHNRUw",
    0.78: "GOQ",
    0.89: "Mm%",
    1.02: "@W…",
}
_BY_CHARACTER = {character: width for width, characters in _WIDTHS.items() for character in characters}
_PIECES = re.compile(r"[^\s./_+#:·-]*?(?:[\s./_+#:·-]+|(?<=[a-z])(?=[A-Z])|$)")

_BETWEEN = " \u00b7/_,-"
_WORDS = re.compile(r"[^\s\u00b7/_,-]+[\s\u00b7/_,-]*")


@cache
def _em(character: str) -> float:
    """Width in Arial, with which Helvetica and Liberation Sans agree; a generous guess for what they lack."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or ord(character) > 0xFFFF:
        return 1.1
    return _BY_CHARACTER.get(character, 0.75)


def width(text: str, size: float = SMALL) -> float:
    """Of one line, in units of a drawing."""
    return size * sum(map(_em, text))


def fitted(text: str, room: float, size: float = SMALL) -> str:
    """``text``, or its two ends around an ellipsis where it is wider than ``room``: names often differ at their ends."""
    if width(text, size) <= room:
        return text
    fits, wide = 0, len(text)
    while wide - fits > 1:
        middle = (fits + wide) // 2
        fits, wide = (middle, wide) if width(_cut(text, middle), size) <= room else (fits, middle)
    return _cut(text, fits)


def _cut(text: str, kept: int) -> str:
    """``kept`` characters of both ends."""
    head = (kept + 1) // 2
    return text[:head].rstrip() + ELLIPSIS + text[len(text) - (kept - head) :].lstrip()


def wrapped(text: str, room: float, size: float = SMALL, *, most: int = 3) -> list[str]:
    """``text`` in at most ``most`` lines, broken after marks and before capitals; what does not fit is cut as by ``fitted``."""
    lines = [""]
    for piece in _pieces(text):
        if not lines[-1] or len(lines) == most or width(lines[-1] + piece.rstrip(), size) <= room:
            lines[-1] += piece
        else:
            lines.append(piece)
    return [fitted(line.strip(), room, size) for line in lines]


def widest(text: str, size: float = SMALL) -> float:
    """Width of its widest piece that is not broken."""
    return max((width(piece.rstrip(), size) for piece in _pieces(text)), default=0.0)


def _pieces(text: str) -> list[str]:
    return [piece for piece in _PIECES.findall(text) if piece]


def distinct(names: Sequence[str]) -> list[str]:
    """Names without the words at either end that all of them share, as long as something is left of each."""
    split = [_WORDS.findall(name) for name in names]
    head, tail = _shared(split), _shared([words[::-1] for words in split])
    least = min(map(len, split), default=0)
    if len(names) < 2 or head + tail >= least:
        return list(names)
    found = ["".join(words[head : len(words) - tail]).strip(_BETWEEN) for words in split]
    return found if len(set(found)) == len(set(names)) else list(names)


def apart(names: Sequence[str], room: float, size: float = SMALL) -> list[str]:
    """``names`` as ``fitted`` cuts them; where that would make different ones alike, without what those share, at last with a number."""
    cut = [fitted(name, room, size) for name in names]
    for places in _alike(cut, names):
        for place, name in zip(places, distinct([names[place] for place in places]), strict=True):
            cut[place] = fitted(name if name == names[place] else ELLIPSIS + name, room, size)
    for places in _alike(cut, names):
        for number, place in enumerate(places, start=1):
            mark = f" #{number}"
            cut[place] = fitted(names[place], room - width(mark, size), size) + mark
    return cut


def _alike(cut: Sequence[str], names: Sequence[str]) -> list[list[int]]:
    """Places of different names that were cut alike."""
    found: dict[str, list[int]] = {}
    for place, text in enumerate(cut):
        found.setdefault(text, []).append(place)
    return [places for places in found.values() if len({names[place] for place in places}) > 1]


def _shared(split: Sequence[Sequence[str]]) -> int:
    """How many words all begin with."""
    return next((number for number, of in enumerate(zip(*split, strict=False)) if len(set(of)) > 1), min(map(len, split), default=0))
