"""A bank for a person to read: its entries, what changed between two, what happened to it, and why it holds an entry."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from typing import TYPE_CHECKING, Any

from xplearn.record.exchange import spaces_of
from xplearn.report.curve import bars
from xplearn.types import Experience

if TYPE_CHECKING:
    from xplearn.interfaces import ExperienceStore
    from xplearn.record.history import Call, Note
    from xplearn.record.reader import Run

SORTS: dict[str, Callable[[Experience], Any]] = {
    "created": lambda found: found.created,
    "id": lambda found: found.id,
    "utility": lambda found: -found.utility,
    "uses": lambda found: -found.uses,
}
"""Orders of a bank's entries, by name."""

COLUMNS = ("id", "kind", "task kind", "utility", "uses", "created", "content")

_LEAST_CONTENT = 24
"""Characters of content that are worth a column."""

When = Callable[[int, int], str]
"""Words for a 0-based stage and round."""


def when_in(run: Run | None) -> When:
    """Words for stages and rounds as ``xplearn show`` counts them; without a run, warm-up stages are not known and counted as others."""
    stages = run.header.resolved["stream"] if run is not None else []

    def words(stage: int, round: int) -> str:
        if stage < len(stages) and stages[stage]["warmup"]:
            return f"warm-up, round {round + 1}"
        number = stage + 1 - sum(config["warmup"] for config in stages[: stage + 1])
        return f"stage {number}, round {round + 1}"

    return words


def table(entries: Iterable[Experience], when: When, width: int) -> Iterator[str]:
    """An entry a line, or two where the terminal is narrow: its figures whole, and as much of its content's first line as fits."""
    rows = [(COLUMNS[:-1], COLUMNS[-1]), *((_cells(found, when), first_line(found.content)) for found in entries)]
    widths = [max(len(cells[at]) for cells, _ in rows) for at in range(len(COLUMNS) - 1)]
    room = width - sum(widths) - 2 * len(widths)
    for cells, content in rows:
        line = "  ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True))
        if room >= _LEAST_CONTENT:
            yield f"{line}  {_short(content, room)}"
        else:
            yield line.rstrip()
            yield f"    {_short(content, width - 4)}"


def totals(store: ExperienceStore) -> list[str]:
    """What a bank holds, in a few lines."""
    entries = list(store)
    kinds = Counter(found.kind for found in entries)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    tasks = len({found.task for found in entries if found.task})
    sourceless, taskless = sum(not found.source for found in entries), sum(not found.task for found in entries)
    lines = [f"{len(entries)} entries{f' ({counted})' if counted else ''} from {tasks} tasks; {sourceless} name no source trajectory"]
    if taskless:
        lines.append(f"{taskless} name no source task: whether they come from evaluated tasks cannot be checked")
    with_vector = spaces_of(store)
    for space, (encoder, dim) in store.spaces().items():
        lines.append(f"space {space}: {len(with_vector[space])} vectors of {dim} numbers by {encoder}")
    return [*lines, f"digest {store.digest()}"]


def differences(before: ExperienceStore, after: ExperienceStore) -> Iterator[str]:
    """What became of one bank in another: counts, then a line for each entry that differs."""
    old, new = ({found.id: found for found in store} for store in (before, after))
    added, removed = [id for id in new if id not in old], [id for id in old if id not in new]
    changed = {id: what for id in new if id in old and (what := _changed(old[id], new[id]))}
    yield f"{len(old)} entries, then {len(new)}: {len(added)} added, {len(removed)} removed, {len(changed)} changed"
    yield from (f"+ {id}  {new[id].kind}  {first_line(new[id].content)}" for id in added)
    yield from (f"- {id}  {old[id].kind}  {first_line(old[id].content)}" for id in removed)
    yield from (f"~ {id}  {', '.join(what)}" for id, what in changed.items())
    if before.spaces() != after.spaces():
        yield f"spaces: {_spaces(before)}, then {_spaces(after)}"
    elif not added and not removed and not changed and before.digest() != after.digest():
        yield "the same entries, with other vectors or in another order"


def history(notes: Sequence[Note], calls: Sequence[Call], when: When) -> Iterator[str]:
    """The journal change by change, and how the bank grew."""
    for _, same in groupby(notes, key=lambda note: note.number):
        found = list(same)
        events = ", ".join(f"{count} {event}" for event, count in Counter(note.event for note in found).items())
        yield f"{when(found[0].stage, found[0].round)}, {author(found[0])}: {events}"
        yield from (f"  {note.event} {note.id}  {facts(note.facts)}".rstrip() for note in found)
    sizes = [call.bank for call in calls if call.bank is not None]
    if sizes:
        yield (
            f"entries after each change that wrote: {', '.join(map(str, sizes))}"
            if len(sizes) <= 16
            else (f"entries after each of {len(sizes)} changes that wrote: {sizes[0]} to {sizes[-1]}, most {max(sizes)}  {bars(sizes)}")
        )


def author(note: Note) -> str:
    """Who made a change."""
    return f"{note.name} ({note.learner}), policy {note.policy_version}"


def facts(given: Mapping[str, Any]) -> str:
    """Facts in a line, long ones shortened."""
    return "  ".join(f"{name}={_short(value)}" for name, value in given.items() if value != "")


def _cells(found: Experience, when: When) -> tuple[str, ...]:
    stage, round, version = found.created
    cells = (found.id, found.kind, found.task_kind, f"{found.utility:.3g}", str(found.uses), f"{when(stage, round)}, policy {version}")
    return tuple(" ".join(cell.split()) for cell in cells)


def first_line(text: str) -> str:
    """The first line with anything on it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _changed(old: Experience, new: Experience) -> list[str]:
    pairs = ((field.name, getattr(old, field.name), getattr(new, field.name)) for field in fields(Experience))
    return [f"{name} {_short(before)} → {_short(after)}" for name, before, after in pairs if before != after]


def _spaces(store: ExperienceStore) -> str:
    return ", ".join(f"{name} ({encoder}, {dim})" for name, (encoder, dim) in store.spaces().items()) or "none"


def _short(value: Any, most: int = 72) -> str:
    text = (
        value
        if isinstance(value, str)
        else f"{value:.4g}"
        if isinstance(value, float)
        else json.dumps(value, ensure_ascii=False, default=dict)
    )
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
