"""Answers that are numbers or mathematical expressions."""

from __future__ import annotations

from xplearn import DataError
from xplearn_expbench.checkers import latex, numbers
from xplearn_expbench.checkers.marked import marked
from xplearn_expbench.checkers.normal import lines, said
from xplearn_expbench.checkers.verifier import shared
from xplearn_expbench.spec import Row, Status, Verdict

LONGEST_CHARS = 500
"""A longer expression is read as no answer. [OURS]"""
_STATUS: dict[str, Status] = {"equal": "correct", "different": "wrong"}


def check(row: Row, completion: str) -> Verdict:
    r"""Whether the answer has the right value; ``row.meta["form"]`` says how it is read and compared.

    ``number``: the number after the last ``####``, ``Answer:``, ``the answer is`` or ``\boxed{…}``, else the last number; compared
    exactly, so that ``18.00`` is ``18`` and ``1.5`` is not ``15``. Currency, percent and thousands signs don't matter, signs do.

    ``expression``: what stands in the last ``\boxed{…}`` with balanced braces or after the last other marker, else the whole completion
    where it is one line. Normal forms decide where they can (`latex.decided` says of what), math-verify where they can't. Its time limit
    and its failures show as ``timed-out`` and ``crashed``, score 0. An answer that only math-verify could find equal is wrong where it
    stands in the question: ``3x+4x-2`` is not how ``3x+4x-2`` is simplified. Other forms of the question (factored, reordered) pass.

    Raises:
        DataError: the row has no such form or no such answer.
        PluginError: only math-verify could tell, and it is not installed. An answer that cannot be compared is not called wrong.
    """
    form = row.meta.get("form")
    if form == "number":
        return _number(row, said(completion))
    if form == "expression":
        return _expression(row, said(completion))
    raise DataError(row.id, f"the row's meta has form {form!r}; it has to be 'number' or 'expression'")


def _number(row: Row, text: str) -> Verdict:
    gold = numbers.whole(str(row.answer))
    if gold is None:
        raise DataError(row.id, f"the row's answer {row.answer!r} is no number; give it form 'expression'")
    found = marked(text)
    value = numbers.last(text) if found is None else numbers.first(found)
    if value is None:
        return Verdict(score=0.0, status="unparsed")
    return Verdict(score=float(value == gold), status="correct" if value == gold else "wrong", parsed=str(value))


def _expression(row: Row, text: str) -> Verdict:
    gold = row.answer
    if not isinstance(gold, str) or not latex.normal(gold):
        raise DataError(row.id, f"the row's answer {gold!r} is no expression; it has to be LaTeX text that isn't empty")
    answer = _answer(text)
    if not answer or len(answer) > LONGEST_CHARS or not latex.balanced(answer):
        return Verdict(score=0.0, status="unparsed")
    equal = latex.decided(gold, answer)
    if equal is None and latex.repeats(answer, row.question):
        equal = False
    outcome = shared.compare(gold, answer) if equal is None else "equal" if equal else "different"
    status = _STATUS.get(outcome, "timed-out" if outcome == "timed-out" else "crashed")
    return Verdict(score=float(status == "correct"), status=status, parsed=answer)


def _answer(text: str) -> str:
    found = marked(text)
    if found is None:
        said_lines = lines(text)
        found = said_lines[0] if len(said_lines) == 1 else ""
    return found.strip(" \t*`")
