"""Episodes in chunks that a page carries compressed and opens one at a time; what repeats within a chunk is there once."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

from xplearn.record.viewed import Viewed, ViewedStep
from xplearn.report.printable import printable

Row = list[Any]

TERMINATED, TRUNCATED, VALID, LATENT = 1, 2, 4, 8
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
                "episodes": self.episodes,
            }
        )

    def _step(self, step: ViewedStep) -> Row:
        flags = TERMINATED * step.terminated + TRUNCATED * step.truncated + VALID * step.valid + LATENT * step.latent
        return [
            self._text(step.observation),
            self._text(step.action),
            NOTHING if step.text == step.action else self._text(step.text),
            round(step.reward, 6),
            flags,
            step.read,
            step.written,
            self._selection(step),
        ]

    def _selection(self, step: ViewedStep) -> int:
        if not step.experiences:
            return NOTHING
        numbers = tuple(map(self._experience, step.experiences))
        key = (numbers, tuple(round(score, 4) for score in step.scores))
        return self._selections.setdefault(key, len(self._selections))

    def _experience(self, fields: Mapping[str, Any]) -> int:
        texts = (self._text(str(fields[name])) for name in ("id", "kind", "content", "source"))
        return self._experiences.setdefault((*texts, round(fields["utility"], 4)), len(self._experiences))

    def _text(self, text: str) -> int:
        shown = printable(text)
        number = self._texts.setdefault(shown, len(self._texts))
        self.size += len(shown) if number == len(self._texts) - 1 else 0
        return number


def packed(value: Any) -> str:
    """A JSON value, deflated, in base64."""
    return base64.b64encode(zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 9)).decode()
