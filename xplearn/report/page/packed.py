"""Episodes in chunks that a page carries compressed and opens one at a time; what repeats within a chunk is there once."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from xplearn.record.viewed import Viewed, ViewedStep
from xplearn.report.printable import printable

Row = list[Any]

TERMINATED, TRUNCATED, VALID, LATENT, RANKED = 1, 2, 4, 8, 16
"""Bits of a step's flags."""

NOTHING = -1
"""Number of a text that is not there, or is the same as another."""


class Chunk:
    """Some episodes, being gathered."""

    def __init__(self) -> None:
        self.episodes: list[Row] = []
        self.size = 0
        """Characters of its texts."""
        self._texts: dict[str, int] = {}
        self._experiences: dict[tuple[Any, ...], int] = {}
        self._selections: dict[tuple[Any, ...], int] = {}
        self._actions: dict[str, int] = {}
        self._choices: dict[tuple[str, ...], int] = {}
        self._changes: list[tuple[list[int], list[int]]] = []
        """What left and what joined the admissible actions, from each of their lists to the next, as gaps: most go on, in rows."""
        self._last: frozenset[int] = frozenset()

    def add(self, viewed: Viewed, error: str | None) -> int:
        """Take an episode in.

        Returns:
            Its place in the chunk.
        """
        opening = [[role, self._text(text)] for role, text in viewed.opening]
        steps = [self._step(step) for step in viewed.steps]
        self.episodes.append([opening, steps, self._text(viewed.final), NOTHING if error is None else self._text(error)])
        return len(self.episodes) - 1

    def dump(self) -> str:
        """As text for an inert element: JSON, deflated, in base64."""
        return packed(
            {
                "texts": list(self._texts),
                "experiences": list(self._experiences),
                "selections": list(self._selections),
                "actions": list(self._actions),
                "choices": self._changes,
                "episodes": self.episodes,
            }
        )

    def _step(self, step: ViewedStep) -> Row:
        ends = TERMINATED * step.terminated + TRUNCATED * step.truncated
        flags = ends + VALID * step.valid + LATENT * step.latent + RANKED * step.ranked
        return [
            self._text(step.observation),
            self._text(step.action),
            NOTHING if step.text == step.action else self._text(step.text),
            round(step.reward, 6),
            flags,
            step.read,
            step.written,
            self._selection(step),
            self._admissible(step.candidates),
        ]

    def _admissible(self, candidates: tuple[str, ...]) -> int:
        """Number of a list of actions, each of which is there once."""
        if not candidates:
            return NOTHING
        if candidates not in self._choices:
            now = frozenset(self._actions.setdefault(printable(action), len(self._actions)) for action in candidates)
            self._changes.append((_gaps(self._last - now), _gaps(now - self._last)))
            self._choices[candidates] = len(self._choices)
            self._last = now
        return self._choices[candidates]

    def _selection(self, step: ViewedStep) -> int:
        if not step.experiences:
            return NOTHING
        numbers = tuple(map(self._experience, step.experiences))
        key = (numbers, tuple(round(score, 4) for score in step.scores))
        return self._selections.setdefault(key, len(self._selections))

    def _experience(self, fields: Mapping[str, Any]) -> int:
        texts = (self._text(str(fields[name])) for name in ("id", "kind", "content", "source"))
        outcome = round(fields["outcome"], 4) if fields["source"] else None  # of no trajectory none is known
        return self._experiences.setdefault((*texts, round(fields["utility"], 4), outcome), len(self._experiences))

    def _text(self, text: str) -> int:
        shown = printable(text)
        number = self._texts.setdefault(shown, len(self._texts))
        self.size += len(shown) if number == len(self._texts) - 1 else 0
        return number


def _gaps(numbers: Iterable[int]) -> list[int]:
    """In order, each by how far it is from the one before."""
    found = sorted(numbers)
    return [number - before for before, number in zip([0, *found], found, strict=False)]


def packed(value: Any) -> str:
    """A JSON value, deflated, in base64."""
    return base64.b64encode(zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 9)).decode()
