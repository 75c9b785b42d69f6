"""Short answers in free text: exact match and F1 over words, best over the accepted answers [C: SQuAD 1.1, HotpotQA]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xplearn import DataError
from xplearn_expbench.checkers.marked import marked
from xplearn_expbench.checkers.normal import light, lines, said, squad, unwrapped
from xplearn_expbench.spec import Row, Verdict

LONGEST_WORDS = 50
"""An answer of more words is read as none: a list of everything is no answer. [OURS]"""
_CLOSED = frozenset({"yes", "no", "noanswer"})


def check(row: Row, completion: str) -> Verdict:
    """Whether the answer equals one of the row's.

    The answer is what stands after the last marker (``Answer:``, ``the answer is`` …), else the first line. Containing an accepted answer
    is not enough: ``f1`` among the parts says how much of it there is. Where one side is ``yes`` or ``no`` and the other isn't, it is 0.

    Both sides are compared in SQuAD's normal form; where that leaves nothing of the accepted one (``!!!``, ``The The``), as written.

    Returns:
        ``score``: the exact match; ``parts``: ``em`` and ``f1``, best over all accepted answers, and ``em_primary``, of the first alone.

    Raises:
        DataError: the row has no accepted answer.
    """
    accepted = _accepted(row)
    answer = _read(completion)
    if not answer:
        return Verdict(score=0.0, status="unparsed", parts={"em": 0.0, "f1": 0.0, "em_primary": 0.0})
    normal = squad(answer)
    exact = [normal == squad(gold) if squad(gold) else light(answer) == light(gold) for gold in accepted]
    best = max(_f1(normal, squad(gold)) for gold in accepted)
    em = float(any(exact))
    parts = {"em": em, "f1": max(em, best), "em_primary": float(exact[0])}
    return Verdict(score=em, status="correct" if em else "wrong", parsed=answer, parts=parts)


def _accepted(row: Row) -> Sequence[str]:
    accepted = [row.answer] if isinstance(row.answer, str) else row.answer
    if not isinstance(accepted, Sequence) or not accepted or not all(isinstance(text, str) and text.strip() for text in accepted):
        raise DataError(row.id, "the row has no accepted answer; 'answer' has to be a list of texts that are not empty")
    return accepted


def _read(completion: str) -> str:
    text = said(completion)
    found = marked(text)
    if found is None:
        found = next(iter(lines(text)), "")
    answer = unwrapped(found)
    return answer if len(answer.split()) <= LONGEST_WORDS else ""


def _f1(answer: str, gold: str) -> float:
    if answer != gold and not _CLOSED.isdisjoint((answer, gold)):
        return 0.0
    words, wanted = answer.split(), gold.split()
    shared = (Counter(words) & Counter(wanted)).total()
    return 2 * shared / (len(words) + len(wanted)) if shared else 0.0
