"""PopQA: ``popQA.tsv``, or one JSON object a line with ``golden_answers``."""

from __future__ import annotations

import json
from pathlib import Path

from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file, or of all files in a folder: 14,267 where complete. All aliases are accepted, the primary answer first.

    ``meta``: ``relation``, and ``popularity``, the monthly views of the subject's page, where the source has them.

    Raises:
        DataError: no such files, or a malformed line.
    """
    files = reading.found(path, [".tsv", ".jsonl"], "PopQA")
    return reading.checked(path, [_row(entry) for file in files for entry in _entries(file)])


def _entries(file: Path) -> list[Entry]:
    if ".tsv" in file.suffixes:
        return [_decoded(entry) for entry in reading.table(file, delimiter="\t")]
    return list(reading.jsonl(file))


def _decoded(entry: Entry) -> Entry:
    """A line of the table in the other form."""
    try:
        answers = json.loads(entry.text("possible_answers"))
    except ValueError:
        raise entry.bad("'possible_answers' is not a JSON list") from None
    return entry._replace(fields={**entry.fields, "golden_answers": answers, "metadata": entry.fields})


def _row(entry: Entry) -> Row:
    relation, views = entry.get("metadata", "prop"), str(entry.get("metadata", "s_pop"))
    meta = {"relation": relation} if isinstance(relation, str) else {}
    return Row(
        id=entry.text("id"),
        question=entry.text("question"),
        answer=list(dict.fromkeys(entry.texts("golden_answers"))),
        split=reading.split(entry.file),
        meta=meta | ({"popularity": int(views)} if views.isdecimal() else {}),
    )
