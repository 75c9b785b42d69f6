"""Ordered lists of candidates, one of which is the target."""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice

from xplearn import DataError
from xplearn_expbench.checkers.normal import light, lines, said, visible
from xplearn_expbench.spec import Row, Status, Verdict

CUTOFF = 10
"""Places that count for NDCG and the hit rate."""
_NUMBERING = re.compile(r"(?:\(?\d{1,4}[.):]|[-*•–]|\[\d{1,4}\])[ \t]+")
_SEPARATORS = (",", ";", " > ", "|", "\t")


def check(row: Row, completion: str) -> Verdict:
    """At which place the target stands.

    The completion names candidates by their texts, best first: one a line, plain, numbered or bulleted; or a JSON list; or on one line
    between commas, semicolons, bars or ``>``. What is no candidate is dropped, and of repeats all but the first; case and spacing don't
    matter.

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
    items = _json_items(text)
    if items is None:
        items = [item for line in lines(text) for item in _items(line, known)]
    return _once(known.get(light(item)) for item in items)


def _once(found: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(text for text in found if text is not None))


def _json_items(text: str) -> list[str] | None:
    start, end = text.find("["), text.rfind("]")
    try:
        items = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else None


def _items(line: str, known: Mapping[str, str]) -> list[str]:
    """The texts that a line lists: itself, or what stands between its separators, joined again where a candidate holds one."""
    plain = _NUMBERING.sub("", line, count=1)
    for whole in (line, plain):
        if light(whole) in known:
            return [whole]
    return next((items for sign in _SEPARATORS if len(items := _between(plain, sign, known)) > 1), [])


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
