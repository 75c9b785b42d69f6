r"""MATH: the ``.jsonl`` of MATH-500, or ``train/`` and ``test/`` of one JSON file a problem in a folder a subject."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xplearn_expbench.checkers import boxed
from xplearn_expbench.official import reading
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row

_ASKED_FOR_A_BOX = "Please reason step by step, and put your final answer within \\boxed{}."


def load(path: Path) -> list[Row]:
    r"""Rows of a file or folder: 500 of MATH-500, 7,500 train and 5,000 test of the whole.

    Rows of MATH-500, a part of the whole's test split, are ``test``. The answer is the field ``answer``, or the last ``\boxed{…}`` of the
    solution. ``meta``: ``form`` (``expression``), and ``subject``, ``level`` (1 to 5) and ``solution`` where the source has them.

    Raises:
        DataError: no such files, or a malformed line.
    """
    folders = [path / name for name in ("train", "test") if (path / name).is_dir()]
    return reading.numbered(path, _whole(folders) if folders else _lines(path))


def _lines(path: Path) -> Iterator[Row]:
    for file in reading.found(path, [".jsonl"], "MATH"):
        for entry in reading.jsonl(file):
            yield _row(entry, reading.split(file) or "test")


def _whole(folders: list[Path]) -> Iterator[Row]:
    for folder in folders:
        for file in sorted(folder.rglob("*.json")):
            entry = next(reading.records(file, [reading.document(file)]))
            yield _row(entry, folder.name)


def _row(entry: Entry, split: str) -> Row:
    question = entry.text("problem" if "problem" in entry.fields else "prompt").removesuffix(_ASKED_FOR_A_BOX).strip()
    answer = entry.text("answer") if "answer" in entry.fields else _boxed(entry)
    id = entry.text("unique_id") if "unique_id" in entry.fields else reading.identity(split, question)
    return Row(id=id, question=question, answer=answer, split=split, meta=_meta(entry))


def _boxed(entry: Entry) -> str:
    box = boxed.last(entry.text("solution"))
    if box is None or not box.content:
        raise entry.bad("has neither an 'answer' nor a \\boxed answer in its solution")
    return box.content


def _meta(entry: Entry) -> dict[str, Any]:
    level = str(entry.get("level") or "").removeprefix("Level ")
    known = {
        "subject": entry.get("subject") or entry.get("type"),
        "level": int(level) if level.isdecimal() else None,
        "solution": entry.get("solution"),
    }
    return {"form": "expression"} | {key: value for key, value in known.items() if value is not None}
