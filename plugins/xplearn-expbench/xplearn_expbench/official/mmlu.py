"""MMLU: ``dev/``, ``val/`` and ``test/`` of one CSV a subject: question, four options, answer, with or without a header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from xplearn import DataError
from xplearn_expbench.official import reading
from xplearn_expbench.spec import Row

_SPLITS = {"auxiliary_train": "train", "dev": "train", "val": "dev", "test": "test"}
_SUBJECT = re.compile(r"(?P<subject>\w+?)_(?:dev|val|test)\.csv(?:\.gz)?")
_ANSWERS = {key: index for index, keys in enumerate(zip("ABCD", "0123", strict=True)) for key in keys}


def load(path: Path) -> list[Row]:
    """Rows of the folder that holds the splits, of one split's folder, or of one file.

    57 subjects: 14,042 test rows, 285 of ``dev``, which are the few-shot examples and count as train, 1,531 of ``val``, which count as dev.
    ``auxiliary_train``, taken from other sets, is read only when it is given itself. ``meta``: ``subject``.

    Raises:
        DataError: no such files, or a malformed line.
    """
    folders = [path / name for name in ("dev", "val", "test") if (path / name).is_dir()] or [path]
    files = [file for folder in folders for file in reading.found(folder, [".csv"], "MMLU (it should hold dev, val and test)")]
    return reading.numbered(path, (row for file in files for row in _rows(file)))


def _rows(file: Path) -> Iterator[Row]:
    named = _SUBJECT.fullmatch(file.name)
    subject = named["subject"] if named else file.name.partition(".")[0]
    split = _SPLITS.get(file.parent.name) or ("train" if file.name.partition(".")[0].endswith("_dev") else reading.split(file))
    if not split:
        raise DataError(file, "tells no split; name the file <subject>_test.csv, or its folder dev, val, test or auxiliary_train")
    for line, cells in reading.cells(file):
        if line == 1 and cells[0] == "question":
            continue
        if len(cells) != 6 or cells[5] not in _ANSWERS or not all(cell.strip() for cell in cells):
            raise reading.bad(file, line, "is not a question, four options, and an answer from A to D (or 0 to 3)")
        question, *options = (cell.strip() for cell in cells[:5])
        id = reading.identity(f"{subject}-{split}", question, *options)
        yield Row(id=id, question=question, answer=_ANSWERS[cells[5]], choices=tuple(options), split=split, meta={"subject": subject})
