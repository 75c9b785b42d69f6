"""GPQA: ``gpqa_diamond.csv`` of the archive that its authors hand out. They ask that the questions are not put online in plain text."""

from __future__ import annotations

from pathlib import Path

from xplearn import derive
from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row

_OPTIONS = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")


def load(path: Path) -> list[Row]:
    """Rows of a file, or of ``gpqa_diamond.csv`` in a folder: 198.

    The source lists the right option first; here the order is drawn by the row's id, the same every time. ``meta``: ``domain`` and
    ``subdomain``.

    Raises:
        DataError: no such file, or a malformed line.
    """
    files = reading.found(path, [".csv"], "GPQA", named="diamond")
    return reading.checked(path, [_row(entry) for file in files for entry in reading.table(file)])


def _row(entry: Entry) -> Row:
    texts = [entry.text(column) for column in _OPTIONS]
    question = entry.text("Question")
    id = entry.fields.get("Record ID") or reading.identity("", question)
    order = sorted(range(len(texts)), key=lambda option: derive(0, "gpqa", id, option))
    return Row(
        id=id,
        question=question,
        answer=order.index(0),
        choices=tuple(texts[option] for option in order),
        meta={"domain": entry.fields.get("High-level domain", ""), "subdomain": entry.fields.get("Subdomain", "")},
    )
