"""CommonsenseQA: ``train_rand_split.jsonl`` and ``dev_rand_split.jsonl``."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import lettered, reading
from xplearn_expbench.spec import Row

_UNANSWERED = (
    "has no answerKey: the answers of CommonsenseQA's test split are not public; give the train and dev files (without the test file)"
)


def load(path: Path) -> list[Row]:
    """Rows of a file or of all splits in a folder: 9,741 train and 1,221 dev.

    ``meta``: ``concept``, the source concept of the question.

    Raises:
        DataError: no such files, a malformed line, or rows without answers, as the published test file has.
    """
    files = reading.found(path, [".jsonl"], "CommonsenseQA")
    return reading.checked(path, lettered.rows(files, options=(5, 5), unanswered=_UNANSWERED))
