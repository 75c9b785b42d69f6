"""The journal of a run: what each learner call did to the bank, found by comparing, and why, as the learner says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xplearn.component import State
from xplearn.errors import ContractError
from xplearn.interfaces import Checkpoint, ExperienceStore
from xplearn.types import Experience

Line = dict[str, Any]
"""``event``, ``id`` and ``facts``."""

COMPARED = ("added", "changed", "removed")
"""Events that are found by comparing the bank; no learner notes them itself."""

_NOTES = "xplearn.journal"
"""Where the notes stand in the progress of a call."""


class CallJournal:
    """The notes of one ``learn`` call, kept in memory until it has succeeded."""

    def __init__(self, learner: str) -> None:
        self._learner = learner
        self.lines: list[Line] = []

    def note(self, event: str, id: str, **facts: Any) -> None:
        """As ``Journal.note``.

        Raises:
            ContractError: the event is one that is found by comparing, or a fact is no finite JSON value.
        """
        if not event or event in COMPARED:
            raise ContractError(self._learner, f"noted '{event}', which is written down for every learner; note the reason by another word")
        line = {"event": event, "id": id, "facts": facts}
        try:
            self.lines.append(json.loads(json.dumps(line, allow_nan=False)))
        except (TypeError, ValueError, RecursionError) as error:
            raise ContractError(self._learner, f"noted '{event}' of '{id}' with a fact that is no finite JSON value: {error}") from None


class NotedProgress:
    """The progress of a call, with the notes made until it was saved: what goes on from there has made them already."""

    def __init__(self, progress: Checkpoint, journal: CallJournal) -> None:
        self._progress, self._journal = progress, journal

    def load(self) -> State | None:
        """As ``Checkpoint.load``."""
        state = self._progress.load()
        if state is None:
            return None
        self._journal.lines[:] = state.get(_NOTES, [])
        return {name: value for name, value in state.items() if name != _NOTES}

    def save(self, state: State) -> None:
        """As ``Checkpoint.save``."""
        notes = {_NOTES: list(self._journal.lines)} if self._journal.lines else {}
        self._progress.save({**state, **notes})

    def report(self, done: int, total: int, **scalars: float) -> None:
        """As ``Checkpoint.report``."""
        self._progress.report(done, total, **scalars)


@dataclass(frozen=True, slots=True)
class _Held:
    """One entry, as far as a comparison needs it."""

    texts: tuple[int, int]
    """Hashes of key and content."""
    facts: Line
    utility: float
    uses: int


@dataclass(frozen=True, slots=True)
class Picture:
    """What a bank held at one version."""

    version: int = -1
    held: Mapping[str, _Held] = field(default_factory=dict)
    text_bytes: int = 0


class BankWatch:
    """Looks at the bank before and after each call; a bank that was not written to is not read again."""

    def __init__(self) -> None:
        self._last = Picture()

    def look(self, store: ExperienceStore) -> Picture:
        """What the bank holds now."""
        if store.version != self._last.version:
            self._last = _picture(store)
        return self._last


def compare(before: Picture, after: Picture) -> Iterator[Line]:
    """A line for each entry that was added, whose text changed, or that was removed, in the bank's order."""
    if before is after:
        return
    for id, found in after.held.items():
        if id not in before.held:
            yield {"event": "added", "id": id, "facts": found.facts}
    for id, found in after.held.items():
        fields = _changed(before.held[id], found) if id in before.held else []
        if fields:
            yield {"event": "changed", "id": id, "facts": {"fields": fields}}
    for id, gone in before.held.items():
        if id not in after.held:
            yield {"event": "removed", "id": id, "facts": {**gone.facts, "utility": gone.utility, "uses": gone.uses}}


def size(store: ExperienceStore, picture: Picture) -> dict[str, int]:
    """Entries of the bank, bytes of its texts and vectors, and how many entries name no source task."""
    vectors = sum(4 * dim * len(store.ids(space)) for space, (_, dim) in store.spaces().items())
    unsourced = len(store.from_task(""))
    return {"bank": len(picture.held), "bank_bytes": picture.text_bytes + vectors, "unsourced": unsourced}


def _picture(store: ExperienceStore) -> Picture:
    version, held, size = store.version, {}, 0
    for found in store:
        held[found.id] = _Held((hash(found.key), hash(found.content)), _facts(found), found.utility, found.uses)
        size += sum(len(text.encode("utf-8", "surrogatepass")) for text in (found.key, found.content))
    return Picture(version, held, size)


def _facts(found: Experience) -> Line:
    pool = found.meta.get("pool")
    facts = {"kind": found.kind, "source": found.source, "task": found.task, "task_kind": found.task_kind, "outcome": found.outcome}
    return {**facts, "pool": pool} if isinstance(pool, str) else facts


def _changed(before: _Held, after: _Held) -> list[str]:
    return [name for name, old, new in zip(("key", "content"), before.texts, after.texts, strict=True) if old != new]
