"""ARC-Challenge: ``ARC-Challenge-Train.jsonl`` and so on, or ``train.jsonl``, ``validation.jsonl``, ``test.jsonl``."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import lettered, reading
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file or of all splits in a folder: 1,119 train, 299 dev and 1,172 test where complete.

    Most questions have four options, some three or five, labelled by letters or by numbers.

    Raises:
        DataError: no such files, or a malformed line.
    """
    files = reading.found(path, [".jsonl"], "ARC-Challenge", named=r"^(?!.*easy)")
    return reading.checked(path, lettered.rows(files, options=(3, 5), unanswered="has no answerKey; get the file again"))
