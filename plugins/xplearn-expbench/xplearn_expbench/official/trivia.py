"""TriviaQA: ``unfiltered-web-dev.json`` and its like, or one JSON object a line with ``golden_answers`` or with ``answer.aliases``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file, or of all files in a folder. All aliases are accepted, the primary answer first.

    Raises:
        DataError: no such files, a malformed record, or records without answers, as the published test files have.
    """
    files = reading.found(path, [".json", ".jsonl"], "TriviaQA")
    return reading.checked(path, [_row(entry) for file in files for entry in _entries(file)])


def _entries(file: Path) -> Iterator[Entry]:
    if ".jsonl" in file.suffixes:
        return reading.jsonl(file)
    whole = reading.document(file)
    return reading.records(file, whole.get("Data") if isinstance(whole, dict) else whole)


def _row(entry: Entry) -> Row:
    old = "Question" in entry.fields
    id = entry.text("QuestionId") if old else entry.text("question_id" if "question_id" in entry.fields else "id")
    question = entry.text("Question" if old else "question")
    return Row(id=id, question=_unquoted(question), answer=_answers(entry), split=reading.split(entry.file))


def _answers(entry: Entry) -> list[str]:
    if "golden_answers" in entry.fields:
        return list(dict.fromkeys(entry.texts("golden_answers")))
    key, value, aliases = ("Answer", "Value", "Aliases") if "Answer" in entry.fields else ("answer", "value", "aliases")
    if entry.get(key) is None:
        raise entry.bad("has no answer: those of TriviaQA's test files are not public; give the train or dev files")
    return list(dict.fromkeys([entry.text(key, value), *entry.texts(key, aliases)]))


def _unquoted(question: str) -> str:
    """Some copies keep the quoting of a table around the whole question."""
    quoted = len(question) > 1 and question.startswith('"') and question.endswith('"') and '""' in question
    return question[1:-1].replace('""', '"') if quoted else question
