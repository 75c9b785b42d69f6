"""HotpotQA without its paragraphs: ``hotpot_dev_distractor_v1.json``, ``hotpot_train_v1.1.json``, or a list of question and answer."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file, or of all files in a folder: 90,447 train and 7,405 dev. Some answers are ``yes`` or ``no``.

    ``meta``: ``type`` (``bridge`` or ``comparison``), ``level`` where the source has it.

    Raises:
        DataError: no such files, a malformed record, or records without answers, as the published test file has.
    """
    files = reading.found(path, [".json"], "HotpotQA")
    return reading.checked(path, [_row(entry) for file in files for entry in reading.records(file, reading.document(file))])


def _row(entry: Entry) -> Row:
    if entry.get("answer") is None:
        raise entry.bad("has no answer: those of HotpotQA's test file are not public; give the train or dev file")
    named = next((key for key in ("_id", "id") if key in entry.fields), "")
    question, split = entry.text("question"), reading.split(entry.file)
    return Row(
        id=entry.text(named) if named else reading.identity(split, question),
        question=question,
        answer=[entry.text("answer")],
        split=split,
        meta={key: entry.fields[key] for key in ("type", "level") if isinstance(entry.get(key), str)},
    )
