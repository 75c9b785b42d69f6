"""GSM-Symbolic: ``GSM_symbolic.jsonl``, 50 instances of each of 100 templates; also ``GSM_p1`` and ``GSM_p2``."""

from __future__ import annotations

from pathlib import Path

from xplearn_expbench.official import reading
from xplearn_expbench.official.gsm8k import final
from xplearn_expbench.official.reading import Entry
from xplearn_expbench.spec import Row


def load(path: Path) -> list[Row]:
    """Rows of a file, or of ``GSM_symbolic.jsonl`` in a folder: 5,000.

    The source has no splits, and instances of a template differ in names and numbers only: split by ``meta["group"]``, the template, never
    by the question. ``meta`` also holds ``form`` (``number``) and ``solution``.

    Raises:
        DataError: no such file, or a malformed line.
    """
    files = reading.found(path, [".jsonl"], "GSM-Symbolic", named=r"symbolic|^(?:train|test)")
    return reading.checked(path, [_row(entry, _variant(file)) for file in files for entry in reading.jsonl(file)])


def _variant(file: Path) -> str:
    """``p1`` and ``p2`` are the templates with one and two clauses more."""
    return next((variant for variant in ("p1", "p2") if variant in file.name.lower()), "symbolic")


def _row(entry: Entry, variant: str) -> Row:
    template, instance = entry.get("id"), entry.get("instance")
    if not isinstance(template, int) or not isinstance(instance, int):
        raise entry.bad("has no whole numbers 'id' and 'instance'")
    meta = {"form": "number", "group": f"template {template}", "solution": entry.text("answer")}
    return Row(id=f"{variant}-{template}-{instance}", question=entry.text("question"), answer=final(entry), meta=meta)
