"""Titles of the own catalogue: brand and name first, then what tells the product apart, 45 to 90 characters in all."""

from __future__ import annotations

from collections.abc import Sequence

from xplearn_webshop.own.draw import number, pick
from xplearn_webshop.own.tables import Claim

_SHOWN = (0, 0, 0, 0, 0, 1, 1)
SHORTEST, LONGEST = 45, 90
_SMALL = frozenset({"a", "an", "and", "for", "in", "of", "the", "to", "with", "without"})


def title(name: str, promised: Sequence[Claim], tails: Sequence[str]) -> str:
    """A title that shows one of the promises or none, and a neutral ending where there is room."""
    shown = sorted(promised, key=lambda claim: number("shown", name, claim.name))[: pick(_SHOWN, "shows", name)]
    ends = sorted(tails, key=lambda tail: number("tail", name, tail))
    kept = number("ends", name) % 2
    pieces, spare = [_cased(claim) for claim in shown] + ends[:kept], ends[kept:]
    text = _joined(name, pieces)
    while len(text) < SHORTEST and spare:
        text = _joined(name, pieces := [*pieces, spare.pop()])
    while len(text) > LONGEST:
        text = _joined(name, pieces := pieces[:-1])
    return text


def _joined(name: str, pieces: Sequence[str]) -> str:
    """Pieces with a preposition first: the first of each preposition without a comma, a second ``with`` without the word."""
    text = name
    for piece in sorted(pieces, key=_is_bare):
        first = piece.split(maxsplit=1)[0]
        if _is_bare(piece) or f" {first} " in text:
            text += f", {piece.removeprefix('with ')}"
        else:
            text += f" {piece}"
    return text


def _is_bare(piece: str) -> bool:
    return piece.split(maxsplit=1)[0] not in _SMALL


def _cased(claim: Claim) -> str:
    words = [word if word in _SMALL else word.capitalize() for word in claim.name.split()]
    return " ".join(words if claim.joint == "is" else [claim.joint, *words])
