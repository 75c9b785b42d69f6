"""NQ-open: ``NQ-open.train.jsonl``, ``NQ-open.dev.jsonl``, and EfficientQA's ``NQ-open.efficientqa.dev.1.1.jsonl``."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file, or of the train and dev files in a folder: 87,925 and 3,610. EfficientQA's 1,800 are read when its file is given.

    Most questions have several accepted answers.

    Raises:
        DataError: no such files, or a malformed line.
    """
    files = reading.found(path, [".jsonl"], "NQ-open", named=r"^(?!.*efficientqa)")
    return reading.numbered(path, [_row(entry, reading.split(file)) for file in files for entry in reading.jsonl(file)])


def _row(entry: Entry, split: str) -> Row:
    question = entry.text("question")
    return Row(id=reading.identity(split, question), question=question, answer=list(entry.texts("answer")), split=split)
