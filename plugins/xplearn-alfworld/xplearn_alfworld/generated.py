"""Generated houses as a source of games: no file, any number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xplearn_alfworld import houses
from xplearn_alfworld.games import Entry, Games
from xplearn_alfworld.problem import Problem

LARGEST_SEED = 10**18
MOST = 10**6
"""Games of a split: as many as can be listed in a minute or two."""

_ID = re.compile(r"(?P<split>[a-z_]+)/house/(?P<seed>0|[1-9][0-9]{0,18})-(?P<index>0|[1-9][0-9]{0,8})", re.ASCII)


class GeneratedHouses(Games):
    """Houses made from a seed. The same seed, split and number give the same house, however many are asked for."""

    kind = "generated houses"

    def __init__(self, *, seed: int, counts: Mapping[str, int]) -> None:
        """``counts``: games per split."""
        self.seed = seed
        self.counts = {split: count for split, count in counts.items() if count}
        self._listed: dict[str, list[Entry]] = {}

    @property
    def digest(self) -> str:
        return f"{houses.VERSION}"

    def splits(self) -> tuple[str, ...]:
        return tuple(self.counts)

    def entries(self, split: str) -> Sequence[Entry]:
        if split not in self._listed:
            self._listed[split] = [self._entry(split, index) for index in range(self.counts.get(split, 0))]
        return self._listed[split]

    def find(self, id: str) -> Entry | None:
        place = self._place(id)
        return self._entry(*place) if place else None

    def problem(self, id: str) -> Problem:
        split, index = self._place(id) or ("", -1)
        return houses.generate(self.seed, split, index)[0]

    def _entry(self, split: str, index: int) -> Entry:
        about = houses.brief(self.seed, split, index)
        meta = {"seed": self.seed, "split": split, "index": index}
        return Entry(id=f"{split}/house/{self.seed}-{index}", type=about.goal.type, goal=about.sentence, meta=meta)

    def _place(self, id: str) -> tuple[str, int] | None:
        """Split and number of a house that exists here."""
        found = _ID.fullmatch(id)
        if not found or int(found["seed"]) != self.seed or int(found["index"]) >= self.counts.get(found["split"], 0):
            return None
        return found["split"], int(found["index"])
