"""OpenBookQA: ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl`` of its Main or Additional folder."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import lettered, reading
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file or of all splits in a folder: 4,957 train, 500 dev and 500 test where complete. The fact is not shown.

    Raises:
        DataError: no such files, or a malformed line.
    """
    files = reading.found(path, [".jsonl"], "OpenBookQA", named=r"^(?!.*_complete)")
    return reading.checked(path, lettered.rows(files, options=(4, 4), unanswered="has no answerKey; get the file again"))
