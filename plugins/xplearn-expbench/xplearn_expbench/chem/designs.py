"""Mini rows: molecules to be given, under constraints that are drawn around one that meets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xplearn_expbench.chem.levels import LEVELS, Draft
from xplearn_expbench.chem.pool import Specimen, pool
from xplearn_expbench.chem.wording import words
from xplearn_expbench.mini import draw
from xplearn_expbench.spec import Row

EACH = {"train": 40, "test": 20}
"""Rows of every level."""


def designs() -> list[Row]:
    """Rows of both splits and all levels, no question twice."""
    asked: set[str] = set()
    return [row for split in EACH for level, drafts in enumerate(LEVELS, 1) for row in _rows(level, drafts, split, asked)]


def _rows(level: int, drafts: Callable[[Sequence[Specimen]], Iterator[Draft]], split: str, asked: set[str]) -> list[Row]:
    mine = draw.shuffled([specimen for specimen in pool() if specimen.split == split], "chemistry", "design", level)
    rows: list[Row] = []
    for draft in drafts(mine):
        row = _row(level, draft)
        if row.question not in asked:
            asked.add(row.question)
            rows.append(row)
        if len(rows) == EACH[split]:
            break
    return rows


def _row(level: int, draft: Draft) -> Row:
    shown = [specimen.text for specimen in (*draft.offered, *draft.examples)]
    meta = {"form": "design", "level": level, "constraints": [bound.json() for bound in draft.bounds], "shown": shown}
    return Row(id="", question=_question(draft), answer=draft.witness.text, split=draft.witness.split, meta=meta)


def _question(draft: Draft) -> str:
    listed = "; ".join(map(words, draft.bounds))
    asked = f"with {listed}." if len(draft.bounds) == 1 else f"that has all of these: {listed}."
    offered = f" One of these is such a molecule: {_texts(draft.offered)}." if draft.offered else ""
    examples = f" For example, {_texts(draft.examples)} are SMILES of other molecules." if draft.examples else ""
    return f"Give the SMILES of a molecule {asked}{offered}{examples}"


def _texts(specimens: Sequence[Specimen]) -> str:
    return ", ".join(specimen.text for specimen in specimens)
