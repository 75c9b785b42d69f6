"""Constraints in words."""

from __future__ import annotations

import math

from xplearn_expbench.chem.measure import SIMILARITY, Constraint

_QUANTITIES = {
    "molecular weight": ("a molecular weight", " g/mol"),
    "logP": ("a logP (Crippen)", ""),
    "TPSA": ("a topological polar surface area", " square angstroms"),
    "QED": ("a QED", ""),
}
_NOUNS = {"heavy atom": "non-hydrogen atom"}


def words(bound: Constraint) -> str:
    """A noun phrase, e.g. "at least 2 rings", "no nitro group", "a molecular weight of at most 300 g/mol"."""
    if bound.of == SIMILARITY:
        return f"a Tanimoto similarity of at least {bound.low:g} to {bound.to} (Morgan fingerprints of radius 2)"
    if bound.of in _QUANTITIES:
        noun, unit = _QUANTITIES[bound.of]
        return noun + _range(bound, " between", " of at least", " of at most") + unit
    if bound.high == 0:
        return f"no {bound.of}"
    if bound.low == bound.high:
        return f"exactly {_things(bound.low, bound.of)}"
    if math.isinf(bound.high):
        return f"at least {_things(bound.low, bound.of)}"
    if math.isinf(bound.low):
        return f"at most {_things(bound.high, bound.of)}"
    return f"between {bound.low:g} and {_things(bound.high, bound.of)}"


def _range(bound: Constraint, between: str, least: str, most: str) -> str:
    if math.isinf(bound.high):
        return f"{least} {bound.low:g}"
    return f"{most} {bound.high:g}" if math.isinf(bound.low) else f"{between} {bound.low:g} and {bound.high:g}"


def _things(count: float, noun: str) -> str:
    noun = _NOUNS.get(noun, noun)
    return f"{count:g} {noun}" + ("" if count == 1 else "s")
