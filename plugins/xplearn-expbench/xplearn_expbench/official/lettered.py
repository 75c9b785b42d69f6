"""Multiple choice with labelled options, as the Allen Institute publishes it and as the hub's copies of it look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row

_LABELS = ("ABCDEFGH", "12345678")


def rows(files: Sequence[Path], *, options: tuple[int, int], unanswered: str) -> Iterator[Row]:
    """Rows of files of one JSON object a line.

    Args:
        files: each holds one split, which its name says.
        options: fewest and most options of a question.
        unanswered: what to say of a question without an answer.

    Raises:
        DataError: a line is malformed, or has no answer.
    """
    for file in files:
        for entry in reading.jsonl(file):
            labels, texts = _options(entry)
            if not options[0] <= len(texts) <= options[1]:
                raise entry.bad(f"has {len(texts)} options where the set has {options[0]} to {options[1]}")
            yield Row(
                id=entry.text("id"),
                question=_question(entry),
                answer=_answer(entry, labels, unanswered),
                choices=texts,
                split=reading.split(file),
                meta=_meta(entry),
            )


def _question(entry: Entry) -> str:
    if isinstance(entry.get("question"), dict):
        return entry.text("question", "stem")
    return entry.text("question_stem" if "question_stem" in entry.fields else "question")


def _options(entry: Entry) -> tuple[str, tuple[str, ...]]:
    """Labels and texts. Both forms are published: a list of label and text, and two lists."""
    choices = entry.get("choices") or entry.get("question", "choices")
    if isinstance(choices, list):
        choices = {key: [choice.get(key) if isinstance(choice, dict) else None for choice in choices] for key in ("label", "text")}
    both = Entry(entry.file, entry.line, {"choices": choices})
    labels, texts = both.texts("choices", "label"), both.texts("choices", "text")
    joined = "".join(labels)
    if len(labels) != len(texts) or not any(joined == known[: len(labels)] for known in _LABELS):
        raise entry.bad(f"labels its {len(texts)} options {', '.join(labels)[:100]}; they should be A, B, C … or 1, 2, 3 …")
    return joined, texts


def _answer(entry: Entry, labels: str, unanswered: str) -> int:
    key: Any = entry.get("answerKey")
    if key in (None, ""):
        raise entry.bad(unanswered)
    if not isinstance(key, str) or len(key) != 1 or key not in labels:
        raise entry.bad(f"has the answer {reading.quoted(key)}, which is none of its labels {', '.join(labels)}")
    return labels.index(key)


def _meta(entry: Entry) -> dict[str, Any]:
    concept = entry.get("question_concept") or entry.get("question", "question_concept")
    return {"concept": concept} if isinstance(concept, str) else {}
