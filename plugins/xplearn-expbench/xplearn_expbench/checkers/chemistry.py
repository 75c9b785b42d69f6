"""Judging chemistry: a yes or a no about a molecule, or a molecule that meets constraints.

**Yes or no** (``meta["form"] == "endpoint"``). Read after the last "Answer:" ("the answer is", a box), else at the very beginning, past any
quotes, brackets and asterisks. It counts only as a whole word that ends there, meets a mark, or goes on as an explanation does ("no because
…"): "No idea", "not yes", "yes and no", "yes/no", "No. Actually, yes" are no answer.

**A molecule** (``"design"``). English is full of valid SMILES: "I" is hydrogen iodide, "CO" methanol; "NO", "SO", "IN" and "COIN" parse
too. So a SMILES is taken, in this order, from

1. the first token after the last "Answer:" (without one, "SMILES:"), where its line ends or a mark follows, not another word; or what
   stands in brackets after a name ("ethanol (CCO)");
2. the first text between backticks, or inside a fence of them;
3. the only token of the first line;
4. the first token of the text that parses and could not be an English word: it has a digit, bracket or bond sign, or two Cs in a row.

After such a mark 2 to 4 look no further back than it. What is taken by 1 to 3 is the answer, readable or not: nothing else is tried. What
is denied ("not CCO", "CCO is wrong") or one of several ("CCO or CCN", "CCO, CCN") is no answer. It must be one neutral molecule
(`xplearn_expbench.chem.molecule.faults`); then each constraint is checked. The score is 1 where all are met, else 0 [OURS];
``parts["met"]`` is the share of them that is met, 0 for what is no molecule.
"""

from __future__ import annotations

import re

from xplearn import DataError
from xplearn_expbench.chem.measure import constraint
from xplearn_expbench.chem.molecule import faults, parse
from xplearn_expbench.spec import Row, Verdict

_ANSWER = re.compile(r"\banswer(?:\s+is)?[\s*_`]{0,8}:(?:\*\*)?|\banswer\s+is\b|\\boxed\{(?:\\text\{)?", re.IGNORECASE)
_SMILES = re.compile(r"\bsmiles(?:\s+string)?[\s*_`]{0,8}:(?:\*\*)?", re.IGNORECASE)

_SAID = re.compile(r"[\s*_`\"'“‘(\[{<]*(yes|no)(?!['’-]?[^\W_])(.*)", re.IGNORECASE)
_REASON = re.compile(r"[ \t]*(?:$|[^\w\s]|_|(?:it|its|this|that|the|they|there|because|since|as)\b)", re.IGNORECASE)
_HEDGE = re.compile(
    r"[\s,/&|;?!*_`)\]-]{0,8}(?:\b(?:and|or|but)\b\s*)?[\s*_`(\[]{0,8}(?:yes|no)\s*(?:$|[^\w\s'’-])|\W*\?",
    re.IGNORECASE,
)
_RETURNED = {
    "no": re.compile(r"\b(?:yes|wait|actually)\b", re.IGNORECASE),
    "yes": re.compile(r"\b(?:wait|actually)\b|\bno\b\s*(?:$|[^\w\s'’-])", re.IGNORECASE),
}
"""What after a yes or a no takes it back."""

_QUOTED = re.compile(r"```[\w-]*\s*\n\s*([^\s`]+)|`\s*([^\s`]+)\s*`")
_AFTER = re.compile(r"\s*(?:$|[^\w\s])")
_SURE = re.compile(r"[0-9()\[\]=#]|CC")
_WRAPPED = re.compile(r"(\*\*?|[(<$])(.+?)(?:\*\*?|[)>$])")
_TAG = re.compile(r"</?(?:smiles|answer|molecule)>", re.IGNORECASE)
_GLOSSED = re.compile(r"([^()\n]{2,60}) \((\S+)\)[\s.!*]*$", re.MULTILINE)
_DENIED = re.compile(r"(?:\b(?:not|never|neither|nor|cannot|except|but|or|than|instead of)\b|n['’]t\b)[^.;:\n]{0,40}$", re.IGNORECASE)
_DISOWNED = re.compile(
    r"[^\w\n]{0,8}(?:(?:it|that|this|which)?\s?(?:is|was|can|could)\s?)?(?:not|wrong|incorrect|false|wait|actually|cannot|n['’]t)\b"
    r"|[^\w\n]{0,8}no\b(?:\W|$)",
    re.IGNORECASE,
)
_NEXT = re.compile(r"[\s,;/|&`*)]*(?:\b(?:or|and|maybe|perhaps)\b[\s,`*(]*)*([^\s`*]+)", re.IGNORECASE)
_EDGES = "\"'“”‘’`,;:!?}"
_READ = 10_000
"""Characters of a completion that are looked at, its last ones."""
_KEPT = 80
"""Characters of an unreadable answer that are kept."""


def check(row: Row, completion: str) -> Verdict:
    """Judge an answer to a row of either form.

    Raises:
        PluginError: RDKit is needed and not installed.
        DataError: the row is malformed.
    """
    form = row.meta.get("form")
    if form == "endpoint":
        return _endpoint(row, completion)
    if form == "design":
        return _design(row, completion)
    raise DataError(row.id, f"meta.form is 'endpoint' or 'design', not {form!r}")


def _endpoint(row: Row, completion: str) -> Verdict:
    if row.answer not in ("yes", "no"):
        raise DataError(row.id, f"the answer of an endpoint is 'yes' or 'no', not {row.answer!r}")
    said = yes_or_no(completion)
    if said is None:
        return Verdict(score=0.0, status="unparsed")
    right = said == row.answer
    return Verdict(score=float(right), status="correct" if right else "wrong", parsed=said)


def yes_or_no(completion: str) -> str | None:
    """``yes``, ``no``, or None where neither or both are said."""
    text = completion[-_READ:]
    found = _SAID.match(text, _after_last(_ANSWER, text) or 0)
    if found is None or not _REASON.match(found[2]) or _HEDGE.match(found[2]):
        return None
    answer = found[1].lower()
    return None if _RETURNED[answer].search(found[2]) else answer


def _design(row: Row, completion: str) -> Verdict:
    constraints = [constraint(entry) for entry in row.meta.get("constraints", ())]
    if not constraints:
        raise DataError(row.id, "meta.constraints is a list of at least one constraint")
    smiles = molecule_in(completion)
    molecule = parse(smiles)
    if molecule is None:
        return Verdict(score=0.0, status="unparsed", parsed=smiles[:_KEPT], parts={"valid": 0.0, "whole": 0.0, "met": 0.0})
    if faults(molecule):
        return Verdict(score=0.0, status="wrong", parsed=molecule.canonical, parts={"valid": 1.0, "whole": 0.0, "met": 0.0})
    met = sum(bound.met(molecule) for bound in constraints) / len(constraints)
    right = met == 1.0
    parts = {"valid": 1.0, "whole": 1.0, "met": met}
    return Verdict(score=float(right), status="correct" if right else "wrong", parsed=molecule.canonical, parts=parts)


def molecule_in(completion: str) -> str:
    """The text that is meant as a SMILES; empty where there is none, or where it is denied or one of several."""
    completion = completion[-_READ:]
    start = _after_last(_ANSWER, completion) or _after_last(_SMILES, completion)
    text = completion[start or 0 :].strip()
    before, token, after = _taken(text, marked=start is not None)
    smiles = _trimmed(token)
    return "" if _DENIED.search(before) or _DISOWNED.match(after) or _another(smiles, after) else smiles


def _taken(text: str, *, marked: bool) -> tuple[str, str, str]:
    """What is before the token that is taken, the token, and what is after it."""
    token, after = _first_token(text)
    glossed = _GLOSSED.match(text)
    if marked and glossed and parse(_trimmed(token)) is None:
        return glossed[1], glossed[2], ""
    if marked and token and not token.startswith("`") and _AFTER.match(after):
        return "", token, after
    quoted = _QUOTED.search(text)
    if quoted:
        return text[: quoted.start()], quoted[1] or quoted[2], text[quoted.end() :]
    if not after.strip():
        return "", token, "" if marked else text.partition("\n")[2].partition("\n")[0]
    tokens = re.finditer(r"\S+", text)
    sure = (found for found in tokens if _SURE.search(_trimmed(found[0])) and parse(_trimmed(found[0])) is not None)
    first = next(sure, None)
    return (text[: first.start()], first[0], text[first.end() :]) if first else ("", "", "")


def _another(smiles: str, after: str) -> bool:
    """Whether another molecule follows at once."""
    following = _NEXT.match(after)
    token = _trimmed(following[1]) if following else ""
    other, molecule = (parse(token) if token not in ("", "I") else None), parse(smiles)
    return other is not None and (molecule is None or other.canonical != molecule.canonical)


def _after_last(marker: re.Pattern[str], text: str) -> int | None:
    """Where the last marker ends."""
    return max((found.end() for found in marker.finditer(text)), default=None)


def _first_token(text: str) -> tuple[str, str]:
    """The first token, and the rest of its line."""
    token, _, after = text.partition("\n")[0].partition(" ")
    return token, after


def _trimmed(token: str) -> str:
    """Without the quotes and marks around it, none of which begin or end a SMILES."""
    token = _TAG.sub("", token).strip(_EDGES).rstrip("." + _EDGES)
    wrapped = _WRAPPED.fullmatch(token)
    return wrapped[2] if wrapped else token
