"""Keeping of a bank in latent memory only what was read: a step holds the rows its tokens retrieved, not thousands."""

from __future__ import annotations

import dataclasses
from typing import Any

from xplearn.types import Completion, Conditioning, Memory, Selection, Step


def compact(step: Step) -> Step:
    """The step with only those memory rows, and only those selected experiences, that its completion retrieved.

    Scored, it gives what it gave before: ``retrieved`` names the same states by their new rows. A step without such
    a record stays as it is.
    """
    memory, retrieved = step.conditioning.memory, step.completion.retrieved
    if memory is None or retrieved is None:
        return step
    used = sorted({row for token in retrieved for row in token})
    number = {row: at for at, row in enumerate(used)}
    kept = Memory(states=memory.states[used], ids=tuple(memory.ids[row] for row in used))
    return dataclasses.replace(
        step,
        selection=_only(step.selection, frozenset(kept.ids)),
        conditioning=Conditioning(messages=step.conditioning.messages, memory=kept),
        completion=_renumbered(step.completion, retrieved, number),
    )


def _only(selection: Selection, ids: frozenset[str]) -> Selection:
    places = [at for at, experience in enumerate(selection.experiences) if experience.id in ids]
    return Selection(experiences=_picked(selection.experiences, places), scores=_picked(selection.scores, places))


def _picked(values: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    return tuple(values[at] for at in places) if values else ()


def _renumbered(completion: Completion, retrieved: tuple[tuple[int, ...], ...], number: dict[int, int]) -> Completion:
    return dataclasses.replace(completion, retrieved=tuple(tuple(number[row] for row in token) for token in retrieved))
