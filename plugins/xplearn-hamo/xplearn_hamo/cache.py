"""Outlines that are written already: those of the bank, and the progress of a ``learn`` call that was cut short.

No outline is asked for twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from xplearn import AgentView, ExperienceStore
from xplearn_hamo.outline import Outline

DIGEST = "digest"
"""Where a card's ``meta`` keeps the digest of what its outline was made from."""


class Outlines:
    """Outlines by the digest of what they were made from."""

    def __init__(self, agent: AgentView, *, every_seconds: float) -> None:
        """Start from the bank's and those that this very call wrote before it was cut short."""
        self._checkpoint, self._every = agent.checkpoint, every_seconds
        saved = self._checkpoint.load() or {}
        self._new = dict(_sound(saved.get("outlines", {})))
        self._known = dict(_of(agent.store)) | self._new
        self._saved_at, self._unsaved = time.monotonic(), False

    def __contains__(self, digest: str) -> bool:
        return digest in self._known

    def __getitem__(self, digest: str) -> Outline:
        return self._known[digest]

    @property
    def new(self) -> Mapping[str, Outline]:
        """Those that are not from the bank."""
        return self._new

    def add(self, written: Mapping[str, Outline]) -> None:
        """Keep new ones; saved at once where the last save is long enough ago."""
        self._new.update(written)
        self._known.update(written)
        self._unsaved = True
        if time.monotonic() - self._saved_at >= self._every:
            self.save()

    def save(self) -> None:
        """Save what is not saved yet."""
        if self._unsaved:
            self._checkpoint.save({"outlines": {digest: _plain(outline) for digest, outline in self._new.items()}})
            self._saved_at, self._unsaved = time.monotonic(), False


def _plain(outline: Outline) -> dict[str, Any]:
    return asdict(outline) | {"lines": list(outline.lines)}


def _of(store: ExperienceStore) -> Iterator[tuple[str, Outline]]:
    for experience in store:
        meta = experience.meta
        if experience.kind == "card" and isinstance(meta.get(DIGEST), str):
            found = {"lines": meta.get("outline"), "writer": meta.get("writer"), "usable": meta.get("usable")}
            yield from _sound({meta[DIGEST]: found})


def _sound(raw: Any) -> Iterator[tuple[str, Outline]]:
    """The outlines among what was read; anything else was not written by us and is left out."""
    for digest, values in raw.items() if isinstance(raw, Mapping) else ():
        lines = values.get("lines") if isinstance(values, Mapping) else None
        if isinstance(lines, list | tuple) and lines and all(isinstance(line, str) for line in lines):
            yield digest, Outline(lines=tuple(lines), writer=str(values.get("writer")), usable=values.get("usable") is True)
