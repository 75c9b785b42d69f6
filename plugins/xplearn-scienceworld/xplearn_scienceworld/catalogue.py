"""The 30 tasks and their 7,207 variations, as tables: listing them needs no Java.

Variations of a task are numbered from 0; the official splits are contiguous ranges in the order train, dev, test. Step caps are those
the agent papers share (ETO and its followers); tasks they leave out keep the environment's default.
"""

from __future__ import annotations

import difflib
import functools
import importlib.resources
import json
import lzma
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One of the 30 tasks."""

    name: str
    number: str
    """Its number in the ScienceWorld paper."""
    counts: tuple[int, int, int]
    """Variations in train, dev and test."""
    paper_cap: int | None
    """Steps the agent papers allow, or None where they leave the task out."""

    def variations(self, split: str) -> range:
        """The variations of a split."""
        place = SPLITS.index(split)
        start = sum(self.counts[:place])
        return range(start, start + self.counts[place])

    @property
    def size(self) -> int:
        """Variations in all."""
        return sum(self.counts)

    @property
    def electrical(self) -> bool:
        """Whether it is solved by connecting things."""
        return "power-component" in self.name or "conductivity" in self.name


_TABLE = """
1-1  boil                                              14   7   9  100
1-2  melt                                              14   7   9   80
1-3  freeze                                            14   7   9   80
1-4  change-the-state-of-matter-of                     14   7   9   80
2-1  use-thermometer                                  270 135 135   30
2-2  measure-melting-point-known-substance            218 109 109  120
2-3  measure-melting-point-unknown-substance          150  75  75    -
3-1  power-component                                   10   5   5   30
3-2  power-component-renewable-vs-nonrenewable-energy  10   5   5   30
3-3  test-conductivity                                450 225 225   30
3-4  test-conductivity-of-unknown-substances          300 150 150   30
4-1  find-living-thing                                150  75  75   15
4-2  find-non-living-thing                            150  75  75   15
4-3  find-plant                                       150  75  75   15
4-4  find-animal                                      150  75  75   15
5-1  grow-plant                                        62  31  33   30
5-2  grow-fruit                                        62  31  33   60
6-1  chemistry-mix                                     16   8   8   60
6-2  chemistry-mix-paint-secondary-color               18   9   9   30
6-3  chemistry-mix-paint-tertiary-color                18   9   9   30
7-1  lifespan-longest-lived                            62  31  32   12
7-2  lifespan-shortest-lived                           62  31  32   12
7-3  lifespan-longest-lived-then-shortest-lived        62  31  32   12
8-1  identify-life-stages-1                             6   3   5   30
8-2  identify-life-stages-2                             4   2   4   30
9-1  inclined-plane-determine-angle                    84  42  42    -
9-2  inclined-plane-friction-named-surfaces           692 346 348    -
9-3  inclined-plane-friction-unnamed-surfaces          80  40  42    -
10-1 mendelian-genetics-known-plant                    60  30  30    -
10-2 mendelian-genetics-unknown-plant                 240 120 120    -
"""


def _kind(row: str) -> Kind:
    number, name, train, dev, test, cap = row.split()
    counts = (int(train), int(dev), int(test))
    return Kind(name=name, number=number, counts=counts, paper_cap=None if cap == "-" else int(cap))


KINDS: Mapping[str, Kind] = {kind.name: kind for kind in map(_kind, _TABLE.strip().splitlines())}
"""The tasks by name, in the paper's order."""

SIMPLIFICATIONS = ("teleportAction", "openContainers", "openDoors", "selfWateringFlowerPots", "noElectricalAction")
EASY = ("teleportAction", "openDoors", "selfWateringFlowerPots", "noElectricalAction")
"""What ``easy`` switches on: never ``openContainers``, and ``noElectricalAction`` only where nothing needs connecting."""


def effective(simplifications: str, kind: Kind) -> tuple[str, ...]:
    """The simplifications in force for a task, in the order of ``SIMPLIFICATIONS``; ``easy`` spelt out."""
    given = [word for word in simplifications.split(",") if word]
    if "easy" in given:
        given += [word for word in EASY if not (kind.electrical and word == "noElectricalAction")]
    return tuple(word for word in SIMPLIFICATIONS if word in given)


@functools.cache
def goals() -> Mapping[str, tuple[str, ...]]:
    """What each variation asks for, in the simulator's words, by task."""
    packed = importlib.resources.files(__package__).joinpath("goals.json.xz").read_bytes()
    return {name: tuple(texts) for name, texts in json.loads(lzma.decompress(packed)).items()}


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """A sentence about a name that does not exist, with the nearest that does."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"no {what} is called '{name}'" + (f"; did you mean '{near[0]}'?" if near else "") + f" (known: {', '.join(names)})"
