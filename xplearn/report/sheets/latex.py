"""Text in a LaTeX document: what is special there is escaped, and what a plain pdflatex cannot set is spelled."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega"
_CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "–": r"\textendash{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
    "→": r"$\rightarrow$",
    "−": r"$-$",
    "\ufffd": "?",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    **{letter: rf"$\{name}$" for letter, name in zip("αβγδεζηθικλμνξπρστυφχψω", _GREEK.split(), strict=True)},
    **{letter: rf"$\{name}$" for letter, name in zip("ΓΔΘΛΞΠΣΦΨΩ", _CAPITALS.split(), strict=True)},
}
_SET = {*map(chr, range(0x20, 0x7F)), *map(chr, range(0xA1, 0x17F)), *"—‘’“”„…•†‡‰€™"} - {*"ĦħĸĿŀŉŦŧ\u00ad"}
"""What T1 has, as ``\\usepackage[T1]{fontenc}`` alone sets it."""
_JOINED = re.compile(r"([-',])(?=\1)")
"""Marks that two of are set as another one."""


def latex(text: str) -> str:
    """One line of text; other scripts than Latin and signs that T1 lacks are their code points, such as ``U+1F525``."""
    return _JOINED.sub(r"\1{}", "".join(map(_character, text)))


@cache
def _character(character: str) -> str:
    if character in _ESCAPED or character in _SET:
        return _ESCAPED.get(character, character)
    if unicodedata.category(character) == "Cf":
        return ""
    plain = "".join(part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part))
    return latex(plain) if plain != character and plain.isascii() else f"U+{ord(character):04X}"
