"""What the trace viewer reads: a list of episodes, and their steps in chunks, within a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xplearn.errors import RecordError
from xplearn.experiment.observer import Observer
from xplearn.metrics.digits import tenths
from xplearn.metrics.rounds import trained
from xplearn.metrics.scores import evaluated
from xplearn.record.folder import RunFolder
from xplearn.record.viewed import Viewed, places, view
from xplearn.report.bank import when_in
from xplearn.report.page.chosen import Unit, ordered, units
from xplearn.report.page.packed import Chunk, packed
from xplearn.report.printable import printable
from xplearn.report.shown import told

if TYPE_CHECKING:
    from xplearn.record.reader import Run
    from xplearn.types import EpisodeResult

CHUNK_EPISODES = 64
CHUNK_SIZE = 300_000
"""Characters of text; whichever comes first ends a chunk."""

LONGEST_GOAL = 1000
"""Characters of a goal in the list, which no limit cuts; the first observation has the whole."""

OUTCOMES = ("success", "failed", "out of steps", "died")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of the episodes a page may hold."""

    episodes: int | None = None
    """None: as many as the size allows."""
    megabytes: float = 12.0
    """Of the compressed episodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """Episodes ready for a page."""

    index: str
    """The list, packed."""
    chunks: tuple[str, ...]
    held: int
    """Episodes in it."""
    played: int
    """Episodes of the runs."""
    lost: int = 0
    """Episodes whose steps the record has no more."""
    damage: str = ""
    """What is wrong with the record of the first that is damaged."""


def build_payload(
    runs: Sequence[Run], names: Sequence[str], limits: Limits, observer: Observer, *, hints: Sequence[str] | None = None
) -> Payload:
    """The episodes of runs, as many as the limits allow.

    Args:
        runs: finished or not.
        names: what the page calls them.
        limits: how much there is room for.
        observer: is told how far it is.
        hints: what the list calls them, where a name is too long for it; by default the names.

    Raises:
        RecordError: ``episodes.jsonl`` of a run is damaged; damaged trajectories are left out and counted.
    """
    found = units(runs)
    played = sum(len(unit.results) for unit in found)
    observer.phase_start("episodes", played)
    packer = _Packer(runs, limits)
    for unit in ordered(found):
        if not packer.take(unit):
            break
        observer.advance(len(unit.results))
    rows = packer.close()
    observer.phase_end()
    return Payload(
        index=packed(_index(runs, names, hints or names, rows)),
        chunks=tuple(packer.chunks),
        held=len(rows),
        played=played,
        lost=packer.lost,
        damage=packer.damage,
    )


@dataclass(slots=True)
class _Listed:
    """One line of the list."""

    unit: Unit
    result: EpisodeResult
    goal: str
    source: str
    chunk: int
    place: int


class _Packer:
    """Fills chunks until the limits are reached."""

    def __init__(self, runs: Sequence[Run], limits: Limits) -> None:
        self.chunks: list[str] = []
        self.lost = 0
        self.damage = ""
        self._folders = [RunFolder(run.path) for run in runs]
        self._places: dict[tuple[int, str], dict[str, int]] = {}
        self._episodes = limits.episodes if limits.episodes is not None else float("inf")
        self._room = limits.megabytes * 1e6
        self._kept: list[_Listed] = []
        self._pending: list[_Listed] = []
        self._chunk = Chunk()

    def take(self, unit: Unit) -> bool:
        """Put a unit's episodes in; False once there is no room."""
        if len(self._kept) + len(self._pending) + len(unit.results) > self._episodes:
            return False
        for result in unit.results:
            viewed = self._viewed(unit.run, result)
            if viewed is None:
                self.lost += 1
                continue
            place = self._chunk.add(viewed, result.error)
            self._pending.append(_Listed(unit, result, viewed.goal, viewed.source, len(self.chunks), place))
        full = len(self._pending) >= CHUNK_EPISODES or self._chunk.size >= CHUNK_SIZE
        return self._flush() if full else True

    def close(self) -> list[_Listed]:
        """Everything that is in, in the order of the list."""
        self._flush()
        return sorted(self._kept, key=lambda listed: listed.unit.number)

    def _viewed(self, run: int, result: EpisodeResult) -> Viewed | None:
        """What happened in an episode; None where its line is not there or damaged."""
        path, key = self._folders[run].trajectories(result.phase), (run, result.phase)
        try:
            if key not in self._places:
                self._places[key] = {}
                self._places[key] = places(path)
            offset = self._places[key].get(result.id)
            return None if offset is None else view(path, offset)
        except RecordError as error:
            self.damage = self.damage or str(error)
            return None

    def _flush(self) -> bool:
        text = self._chunk.dump() if self._pending else ""
        fits = len(text) <= self._room
        if text and fits:
            self._room -= len(text)
            self.chunks.append(text)
            self._kept += self._pending
        self._pending, self._chunk = [], Chunk()
        return fits


class _Numbers(dict[Any, int]):
    """Values numbered in the order they are first asked for."""

    def __missing__(self, value: Any) -> int:
        self[value] = len(self)
        return self[value]


def _index(runs: Sequence[Run], names: Sequence[str], hints: Sequence[str], rows: Sequence[_Listed]) -> dict[str, Any]:
    """The list, column by column."""
    phases, domains, tasks, replicas = _Numbers(), _Numbers(), _Numbers(), _Numbers()
    when = [when_in(run) for run in runs]
    columns: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        result = row.result
        place, learned = evaluated(result.phase), trained(result.phase)
        words = _words(runs[row.unit.run], result.phase, when[row.unit.run])
        group = "evaluation" if place else "demonstrations" if row.source == "demonstration" else "training" if learned else "other"
        columns["id"].append(printable(result.id))
        columns["run"].append(row.unit.run)
        columns["unit"].append(row.unit.number)
        columns["phase"].append(phases[group, words])
        columns["domain"].append(domains[printable(place[1] if place else result.env)])
        columns["task"].append(tasks[printable(result.task), _short(printable(row.goal)), printable(result.kind)])
        columns["replica"].append(replicas[row.unit.replica])
        seen = told(runs[row.unit.run], result.arm) if learned and len(row.unit.results) == 1 else result.arm
        columns["experience"].append(int(seen == "experience"))
        columns["outcome"].append(_outcome(result))
        columns["score"].append(float(tenths(100 * result.score)))
        columns["steps"].append(result.length)
        columns["read"].append(result.tokens_in)
        columns["written"].append(result.tokens_out)
        columns["seconds"].append(float(f"{result.seconds:.3g}"))
        columns["chunk"].append(row.chunk)
        columns["place"].append(row.place)
    shared = {"phases": list(phases), "domains": list(domains), "tasks": list(tasks), "replicas": list(replicas)}
    return {"runs": list(map(printable, names)), "hints": list(map(printable, hints)), **shared, "columns": columns}


def _words(run: Run, phase: str, when: Any) -> str:
    place, learned = evaluated(phase), trained(phase)
    if learned is not None:
        return str(when(*learned))
    if place is None:
        return printable(phase)
    stages = sum(not stage["warmup"] for stage in run.header.resolved["stream"])
    return "before learning" if place[0] == 0 else "after learning" if stages == 1 else f"after stage {place[0]}"


def _short(goal: str) -> str:
    return goal if len(goal) <= LONGEST_GOAL else f"{goal[: LONGEST_GOAL - 1]}…"


def _outcome(result: EpisodeResult) -> int:
    if result.error is not None:
        return OUTCOMES.index("died")
    return OUTCOMES.index("success" if result.success else "out of steps" if result.truncated else "failed")
