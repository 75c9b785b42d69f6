"""Names as the player sees them: ``Drawer_bar__plus_02_dot_25`` is shown as ``drawer 3``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from xplearn import DataError


def order(id: str) -> str:
    """What the original sorts by wherever it lists things: the id in lower case."""
    return id.lower()


def shown(ids: Iterable[str]) -> Mapping[str, str]:
    """The name of every id: its kind in lower case and a number, counted down along the sorted ids of that kind.

    Receptacles and objects are numbered together. Raises ``DataError`` for an id that does not look like ``Kind_bar_…``.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for id in sorted(ids, key=order):
        alike[_kind(id)].append(id)
    return {id: f"{kind} {len(same) - place}" for kind, same in alike.items() for place, id in enumerate(same)}


def _kind(id: str) -> str:
    kind, bar, _ = id.lower().partition("_bar_")
    if not bar:
        raise DataError(id, "is not the id of an object or receptacle; they look like Mug_bar_1")
    return f"{kind}basin" if "basin" in id.lower() else kind
