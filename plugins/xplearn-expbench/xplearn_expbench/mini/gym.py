"""Problems of reasoning-gym in our wording: the package makes the numbers and the answers.

Its problems follow from its version, which is therefore in every row: rows of different versions have different digests, so their scores
do not meet in one table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from random import Random
from typing import Any

from xplearn import PluginError
from xplearn_expbench.mini.draw import number

Problem = tuple[str, str]
"""A question and its answer."""

SOUND = (1, 16, 26, 30, 33, 34, 39, 43, 56, 57, 59, 60, 62, 69, 72, 82, 83, 96)
"""Skeletons of ``gsm_symbolic`` whose English and answers we have read and found sound."""

_PACKAGE = "reasoning-gym"
_GET = "pip install 'xplearn-expbench[maths]'"
_SEEDS = 2**31 - 1
_MANY = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A generator of the package, how hard it is set, and how its problems are put into words."""

    name: str
    ask: Callable[[Mapping[str, Any]], str]
    """The question, from the metadata of a problem."""
    answer: Callable[[Mapping[str, Any]], str]
    """The answer, from the whole entry."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def problems(self, *key: str | int) -> Iterator[Problem]:
        """Thousands of problems, which may repeat."""
        seed = number(0, _SEEDS, *key, self.name)
        made = package().create_dataset(self.name, seed=seed, size=_MANY, **self.options)
        for place in range(_MANY):
            entry = made[place]
            yield self.ask(entry["metadata"]), self.answer(entry)


def told(skeleton: int, *key: str | int) -> Problem:
    """One of the package's word problems: the same skeleton with names and numbers drawn by the key."""
    entry = _skeletons()[skeleton](Random(number(0, _SEEDS, *key, skeleton)), 1.0)  # noqa: S311 - the package takes no other generator
    return entry["question"], entry["answer"]


def version() -> str:
    """Of the installed package.

    Raises:
        PluginError: it, or what it needs, is not installed.
    """
    package()
    return f"{_PACKAGE} {metadata.version(_PACKAGE)}"


@functools.cache
def package() -> Any:
    """The package, imported when first needed.

    Raises:
        PluginError: it, or what it needs, is not installed.
    """
    try:
        return import_module("reasoning_gym")
    except ImportError as error:
        missing = (error.name or _PACKAGE).partition(".")[0].replace("_", "-")
        raise PluginError("expbench", f"the mini maths tasks are made with {_PACKAGE}, and '{missing}' is not installed: {_GET}") from error


@functools.cache
def _skeletons() -> Mapping[int, Callable[[Random, float], dict[str, Any]]]:
    made: Mapping[int, Callable[[Random, float], dict[str, Any]]] = package().create_dataset("gsm_symbolic", seed=0, size=1).generators
    return made
