"""GSM8K: ``train.jsonl`` and ``test.jsonl``, whose answers end in ``#### <number>``."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file or of both splits in a folder: 7,473 train and 1,319 test.

    ``meta``: ``form`` (``number``) and ``solution``, the worked answer as published.

    Raises:
        DataError: no such files, or a malformed line.
    """
    files = reading.found(path, [".jsonl"], "GSM8K", named=r"^(?!.*socratic)")
    return reading.numbered(path, [_row(entry, reading.split(file)) for file in files for entry in reading.jsonl(file)])


def final(entry: Entry) -> str:
    """The number after ``####``; ``DataError`` where there is none."""
    _, marker, answer = entry.text("answer").rpartition("####")
    if not marker or not answer.strip():
        raise entry.bad("has an answer that doesn't end in '#### <number>'")
    return answer.strip()


def _row(entry: Entry, split: str) -> Row:
    question = entry.text("question")
    meta = {"form": "number", "solution": entry.text("answer")}
    return Row(id=reading.identity(split, question), question=question, answer=final(entry), split=split, meta=meta)
