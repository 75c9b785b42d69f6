"""Why a bank holds an experience, or no longer does: who wrote it, from what, what it proved worth, how it ended."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xplearn.errors import RecordError
from xplearn.report.bank import author, facts, when_in

if TYPE_CHECKING:
    from xplearn.interfaces import ExperienceStore
    from xplearn.record.history import Note
    from xplearn.record.reader import Run
    from xplearn.types import EpisodeResult, Experience

_NEAR = 5
"""Ids that are offered where one is unknown or not alone."""


def why(run: Run, store: ExperienceStore, asked: str) -> Iterator[str]:
    """The life of one experience, as lines.

    Args:
        run: whose journal tells.
        store: its bank.
        asked: the experience's id, or a beginning that no other id has.

    Raises:
        RecordError: no id begins so, or several do.
    """
    notes = run.history()
    known = dict.fromkeys([*(found.id for found in store), *(note.id for note in notes if note.id)])
    id = resolve(asked, list(known), run)
    found = store.get([id])[0] if id in store else None
    own = [note for note in notes if note.id == id]
    yield id
    yield from _written(run, found, own)
    yield from _sources(run, found, own)
    yield from _life(run, id, [note for note in notes if note.id == id or _names(note.facts, id)])
    yield from _standing(run, found, own)


def resolve(asked: str, known: Sequence[str], run: Run) -> str:
    """The one id that is meant."""
    begun = [id for id in known if id.startswith(asked)]
    if asked in known or len(begun) == 1:
        return asked if asked in known else begun[0]
    if begun:
        more = f" and {len(begun) - _NEAR} more" if len(begun) > _NEAR else ""
        raise RecordError(run.path, f"{len(begun)} experiences begin with '{asked}': {', '.join(begun[:_NEAR])}{more}; say more of the id")
    near = [id for id in known if asked in id][:_NEAR] or difflib.get_close_matches(asked, known, n=_NEAR, cutoff=0.3)
    hint = f"; near are {', '.join(near)}" if near else ""
    raise RecordError(
        run.path, f"no experience of this run is called '{asked}'{hint}; all ids: xplearn bank history {run.path} --event added"
    )


def _written(run: Run, found: Experience | None, own: Sequence[Note]) -> Iterator[str]:
    added = [note for note in own if note.event == "added"]
    for note in added:
        yield f"  written   {when_in(run)(note.stage, note.round)}, by {author(note)}: a {note.facts.get('kind', '')}"
    if found is not None and not added:
        stage, round, version = found.created
        when = f"stage {stage + 1}, round {round + 1} of its writer's, policy {version}"
        yield f"  written   before this run, or before runs kept a journal: {when}"


def _sources(run: Run, found: Experience | None, own: Sequence[Note]) -> Iterator[str]:
    """The trajectories it was made from, with what this run knows of them."""
    named = [note.facts.get(key) for note in own for key in ("source", "success", "failure", "sources")]
    named += [found.source, found.meta.get("sources")] if found is not None else []
    ids = dict.fromkeys(id for value in named for id in (value if isinstance(value, list) else [value]) if isinstance(id, str) and id)
    if not ids:
        yield "  from      it names no source trajectory"
        return
    episodes = {result.id: result for result in run.episodes() if result.id in ids}
    for id in ids:
        yield f"  from      {id}: {_outcome(episodes[id]) if id in episodes else 'no episode of this run has this id'}"


def _outcome(result: EpisodeResult) -> str:
    end = f"died ({result.error})" if result.error else "solved" if result.success else "not solved"
    return f"{result.env} task '{result.task}', score {result.score:.2f}, {end}, {result.arm} arm"


def _life(run: Run, id: str, notes: Sequence[Note]) -> Iterator[str]:
    """What learners noted of it, and of other experiences while naming it, in order."""
    when = when_in(run)
    for note in notes:
        if note.id != id:
            yield f"  named     {when(note.stage, note.round)}, {note.event} of {note.id or 'nothing'}: {facts(note.facts)}"
        elif note.event not in {"added", "removed"}:
            yield f"  {note.event:<9} {when(note.stage, note.round)}, by {note.name}: {facts(note.facts)}"


def _standing(run: Run, found: Experience | None, own: Sequence[Note]) -> Iterator[str]:
    removed = [note for note in own if note.event == "removed"]
    if found is None and removed:
        note = removed[-1]
        yield f"  removed   {when_in(run)(note.stage, note.round)}, by {author(note)}: {facts(note.facts)}"
        if not any(other.number == note.number and other.event not in {"removed", "utility"} for other in own):
            yield "            the learner gave no reason"
    elif found is None:
        yield "  removed   it never came to be in the bank, or no journal says how it left"
    else:
        task = f"task '{found.task}' ({found.task_kind})" if found.task else "no known task"
        yield f"  now       in the bank: from {task}, outcome {found.outcome:.2f}, utility {found.utility:.4g}, {found.uses} uses"
        yield from (f"            {line}" for line in found.content.splitlines())


def _names(value: Any, id: str) -> bool:
    """Whether facts name an experience, alone or in a list."""
    return any(item == id or (isinstance(item, list) and id in item) for item in value.values())
