"""Sequential recommendation, leave-one-out: the last item of a user is the test, the last but one is for development."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xplearn import DataError
from xplearn_expbench.official import interactions, titles
from xplearn_expbench.spec import Row

SHOWN = 20
"""Latest items of a history that the question names; ``meta`` has them all."""
_FROM_THE_END = {"train": 3, "dev": 2, "test": 1}


def load(path: Path) -> list[Row]:
    """Three rows for each user of MovieLens, Amazon reviews, RecBole, SASRec or S3-Rec files: ``train``, ``dev``, ``test``.

    The target is the last item (``test``), the one before (``dev``), the one before that (``train``); the question names what came before
    it, oldest first. Users of three interactions have no train row; of fewer, none at all. Ratings are not looked at: to have is to like.

    ``choices`` is the whole :func:`universe`, one and the same tuple in every row. ``meta``: ``history``, all texts before the target, and
    ``user``.

    Raises:
        DataError: no such file or more than one, a malformed line, or no user with three interactions.
    """
    histories, known = _read(path)
    pool = tuple(known.values())
    rows = [
        _row(user, [known[item] for item in items], split, pool)
        for split in _FROM_THE_END
        for user, items in histories.items()
        if _enough(items, split)
    ]
    if not rows:
        raise DataError(path, "has no user with three interactions; leave-one-out needs them")
    return rows


def universe(path: Path) -> tuple[str, ...]:
    """The texts of all items that some user had, in the order in which the file first names them; raises as :func:`load` does."""
    return tuple(_read(path)[1].values())


def _read(path: Path) -> tuple[interactions.Histories, dict[str, str]]:
    file = interactions.located(path)
    histories = interactions.read(file)
    items = dict.fromkeys(item for items in histories.values() for item in items)
    return histories, titles.texts(file, items)


def _enough(items: Sequence[str], split: str) -> bool:
    return len(items) >= max(3, _FROM_THE_END[split] + 1)


def _row(user: str, items: Sequence[str], split: str, pool: tuple[str, ...]) -> Row:
    at = len(items) - _FROM_THE_END[split]
    history = tuple(items[:at])
    return Row(
        id=f"{user}-{split}",
        question="\n".join(["Somebody chose these one after another, the latest last:", "", *history[-SHOWN:]]),
        answer=items[at],
        choices=pool,
        split=split,
        meta={"history": history, "user": user},
    )
