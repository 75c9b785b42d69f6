"""Where games come from: one small interface over packed files, the official folders and generated houses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from xplearn_alfworld.problem import Problem, TaskType

TYPES: tuple[str, ...] = get_args(TaskType)
SPLITS = ("train", "valid_train", "valid_seen", "valid_unseen")
"""The official splits, training first."""

ALIASES: Mapping[str, str] = {"seen": "valid_seen", "unseen": "valid_unseen", "dev": "valid_seen", "test": "valid_unseen"}
"""Other names for splits, where there is none of that very name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A game in a list of games."""

    id: str
    """``<split>/<task>/<trial>``: the id of its task."""
    type: str
    """One of ``TYPES``."""
    goal: str
    """What is asked for, in a sentence made from a template."""
    human: tuple[str, ...] = ()
    """The same in the words of people, one each."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Facts about it, for its task."""

    @property
    def split(self) -> str:
        """What its id begins with."""
        return self.id.partition("/")[0]


class Games(ABC):
    """A source of games. Making one is cheap: files are opened when first asked for, and problems are read one by one.

    Whatever is missing or damaged raises ``DataError`` with the file, the line and what to do.
    """

    kind: str
    """What sort of source it is, in words."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """Short hash of the content, wherever it lies."""

    @property
    def skipped(self) -> Mapping[str, int]:
        """How many games or files were left out so far, by reason."""
        return {}

    @abstractmethod
    def splits(self) -> tuple[str, ...]:
        """Splits that hold games, the official ones first. A source without any game raises ``DataError``."""

    @abstractmethod
    def entries(self, split: str) -> Sequence[Entry]:
        """The games of a split, in their order."""

    @abstractmethod
    def find(self, id: str) -> Entry | None:
        """The game of this id, or None."""

    @abstractmethod
    def problem(self, id: str) -> Problem:
        """The start of a game that ``find`` found."""


def ordered(splits: Iterable[str]) -> tuple[str, ...]:
    """Official names first, in the official order."""
    return tuple(sorted(splits, key=lambda name: (SPLITS.index(name), "") if name in SPLITS else (len(SPLITS), name)))


def plain(value: object) -> bool:
    """Whether a value is text that is not blank and can be written to a file."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
