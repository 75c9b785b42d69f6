"""Ordered lists of candidates, one of which is the target."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import re
import warnings
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from xplearn import DataError
from xplearn_expbench.checkers.normal import light, lines, said, visible
from xplearn_expbench.spec import Row, Status, Verdict

CUTOFF = 10
"""Places that count for NDCG and the hit rate."""
_NUMBERING = re.compile(r"(?:\(?\d{1,4}[.):]|[-*•–]|\[\d{1,4}\]|#\d{1,4}[.):]?)[ \t]+|\d{1,4}[.)](?=[^\W\d])")
_MARKER = re.compile(
    r"[\s*_]*(?:(?:my|the|final)\s)*(?:answer|order|ranking|list)[\s*_]{0,3}(?::|\b(?:is|would\sbe)\b:?)[\s*_]*", re.IGNORECASE
)
_KEYED = re.compile(rf"(?:{_MARKER.pattern})?(?:\{{?\s*[\"']?\w*[\"']?\s*:)?\s*", re.IGNORECASE)
_ENDED = re.compile(r"[\s.}\]`*]*")
_HEADED_OTHERWISE = re.compile(r"\b(?:worse|worst|not|never|least|last|avoid|refuse|reject|wrong)\b.*:\W*$|n['’]t\b.*:\W*$", re.IGNORECASE)
_LONGEST_LIST = 20_000
"""Characters of a list between brackets that is read where it is no JSON."""
_SEPARATORS = (",", ";", " > ", "|", "\t")


def check(row: Row, completion: str) -> Verdict:
    """At which place the target stands.

    The completion names candidates by their texts, best first: one a line, plain, numbered or bulleted; or a JSON list; or on one line
    between commas, semicolons, bars or ``>``; after ``Answer:`` and the like or at once. What is no candidate is dropped, and of repeats
    all but the first; case and spacing don't matter. Lists and lines that stand together are read in their order.

    Prose that mentions candidates is no order: on a line between signs the first, the last (which may be cut off) and most of what is
    listed have to be candidates, a list in brackets has to stand alone or after such a marker, and below a heading as ``These are worse:``
    there is none.

    Returns:
        ``score``: NDCG@10, which with one target is ``1 / log2(place + 1)`` for places 1 to 10 and 0 beyond; ``parts``: ``ndcg@10``,
        ``hr@10``, ``mrr`` (over all places); correct where the target comes first. A target that is not named has no place: all are 0.

    Raises:
        DataError: the target is not among the row's candidates, or two candidates read alike.
    """
    known = _known(row)
    order = _read(completion, known)
    place = order.index(row.answer) + 1 if row.answer in order else math.inf
    counts = place <= CUTOFF
    ndcg = 1 / math.log2(place + 1) if counts else 0.0
    parts = {"ndcg@10": ndcg, "hr@10": float(counts), "mrr": 1 / place}
    status: Status = "unparsed" if not order else "correct" if place == 1 else "wrong"
    return Verdict(score=ndcg, status=status, parsed="\n".join(order[:CUTOFF]), parts=parts)


def _known(row: Row) -> Mapping[str, str]:
    known = {light(text): text for text in row.choices}
    if row.answer not in row.choices:
        raise DataError(row.id, f"the target '{row.answer}' is not among the row's {len(row.choices)} candidates; add it to 'choices'")
    if len(known) < len(row.choices):
        raise DataError(row.id, "two of the row's candidates read alike; make the texts in 'choices' differ by more than case and spacing")
    return known


def _read(completion: str, known: Mapping[str, str]) -> list[str]:
    """The candidates named, in order, each once."""
    listed = lines(visible(completion))
    verbatim = [known.get(light(line)) for line in listed]
    if all(verbatim):
        return _once(verbatim)
    text = said(completion)
    before, items, after = _bracketed(text)
    named = (known.get(light(item)) for item in [*_listed(before, known), *items, *_listed(after, known)])
    return [] if any(map(_HEADED_OTHERWISE.search, lines(text))) else _once(named)


def _listed(text: str, known: Mapping[str, str]) -> list[str]:
    return [item for line in lines(text) for item in _items(line, known)]


def _once(found: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in found if text is not None))


def _bracketed(text: str) -> tuple[str, list[str], str]:
    """What is before a list in brackets, as JSON or as Python writes it, what it holds, and what is after it; all before, without one."""
    start, end = text.find("["), text.rfind("]") + 1
    before, _, lead = text[: max(0, start)].rpartition("\n")
    tail, _, after = text[end:].partition("\n")
    if not (0 <= start < end and _KEYED.fullmatch(lead) and _ENDED.fullmatch(tail)):
        return text, [], ""
    items = _parsed(text[start:end])
    if not isinstance(items, list):
        return text, [], ""
    return before, [item for item in items if isinstance(item, str)], after


def _parsed(text: str) -> Any:
    for read in (json.loads, ast.literal_eval if len(text) <= _LONGEST_LIST else json.loads):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read(text)
    return None


def _items(line: str, known: Mapping[str, str]) -> list[str]:
    """The texts that a line lists: itself, or what stands between its separators, joined again where a candidate holds one."""
    unmarked = _MARKER.sub("", line, count=1) if _MARKER.match(line) else line
    plain = _NUMBERING.sub("", unmarked, count=1)
    for whole in (line, unmarked, plain):
        if light(whole) in known:
            return [whole]
    items = next((items for sign in _SEPARATORS if len(items := _between(plain, sign, known)) > 1), [])
    return items if _is_list([light(item) for item in items], known) else []


def _is_list(items: list[str], known: Mapping[str, str]) -> bool:
    if not items or items[0] not in known or 2 * sum(item in known for item in items) <= len(items):
        return False
    return items[-1] in known or any(text.startswith(items[-1]) for text in known)


def _between(line: str, sign: str, known: Mapping[str, str]) -> list[str]:
    pieces = deque(line.split(sign))
    most = 1 + max(text.count(sign) for text in known)
    items: list[str] = []
    while pieces:
        head = list(islice(pieces, most))
        joins = [_NUMBERING.sub("", sign.join(head[:count]).strip(), count=1) for count in range(len(head), 0, -1)]
        taken = next((at for at, join in enumerate(joins) if light(join) in known), len(joins) - 1)
        items.append(joins[taken])
        for _ in range(len(joins) - taken):
            pieces.popleft()
    return items
