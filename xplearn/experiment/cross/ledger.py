"""The folder of a cross: what ``cross.json`` says of its cells while they are run, and the lock that keeps a second process out."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from xplearn.errors import RecordError, XplearnError
from xplearn.experiment.cross.file import CrossFile
from xplearn.experiment.cross.planned import Planned
from xplearn.files import refusal
from xplearn.record.cross import NAME, Cell, Cross, State, load_cross
from xplearn.record.folder import RunFolder
from xplearn.record.header import Header, read_header

MOST_NAMED = 3
"""Folders that are named where there are more."""


def recorded(folder: Path) -> Cross | None:
    """The cross in a folder, None where there is none yet.

    Raises:
        RecordError: it is damaged or newer, or the folder is that of a run.
    """
    if RunFolder(folder).header.exists():
        raise RecordError(folder, "is the folder of a run; call the cross something else (name)")
    return load_cross(folder) if (folder / NAME).exists() else None


def finished(folder: Path) -> bool:
    """Whether a folder holds a finished run."""
    header = header_in(folder)
    return header is not None and header.status == "finished"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[BinaryIO]:
    """Keep other processes from running this cross: as long as this one or one that was handed the file holds it open.

    Folders that were made for the lock go again where nothing else was written.

    Raises:
        RecordError: another process runs it, or the folder cannot be written.
    """
    try:
        made = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("ab")
    except OSError as error:
        raise RecordError(folder, f"cannot be written ({refusal(error)}); choose another place with dir") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RecordError(folder, "another process is running this cross; wait for it, or change name") from None
        try:
            yield lock
        finally:
            if made and len(list(folder.iterdir())) == 1:
                _remove(folder / "lock", made)


def _remove(lock: Path, folders: Sequence[Path]) -> None:
    lock.unlink()
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()


class Ledger:
    """The cells of a cross as they stand, in memory and, once it is kept, in ``cross.json``.

    Args:
        file: what was asked for.
        grid: its cells.
        before: what was recorded earlier.
    """

    def __init__(self, file: CrossFile, grid: Sequence[Planned], before: Cross | None) -> None:
        self.folder = file.folder
        self._grid = {cell.id: cell for cell in grid}
        self._place = {cell.id: number for number, cell in enumerate(grid)}
        self._before = {cell.id: cell for cell in before.cells} if before else {}
        self.cross = Cross(
            name=file.name,
            given=file.given,
            axes={axis.name: list(axis.values) for axis in file.axes},
            cells=[self._start(cell) for cell in grid],
        )

    def __getitem__(self, id: str) -> Cell:
        """The cell of this id."""
        return self.cross.cells[self._place[id]]

    def open(self) -> list[Planned]:
        """Cells that are there to be run, in the order of the grid."""
        return [self._grid[cell.id] for cell in self.cross.cells if self._grid[cell.id].runs and cell.state != "finished"]

    def failed(self) -> frozenset[str]:
        """Ids of the cells that failed when they were last tried, or would."""
        return frozenset(cell.id for cell in self.cross.cells if cell.state == "failed")

    def left_alone(self) -> list[str]:
        """Lines on runs that lie here and are none of this cross any more: made with other versions, or of cells no longer in the file."""
        cells = self._grid.values()
        anew = [cell for cell in cells if cell.runs and cell.earlier and not header_in(self.folder / cell.folder)]
        replaced = {cell.folders[-2]: cell.outdated for cell in anew}
        planned = {cell.folders[0] for cell in cells}
        gone = {run for cell in self._before.values() if (run := cell.run) and not planned & {run, run.rpartition(".")[0]}}
        gone = {run for run in gone if (self.folder / run).is_dir()}
        lines = []
        if replaced:
            why = next(iter(replaced.values()))
            lines.append(f"made with other versions ({why}), left alone, and run again: {self._names(replaced)}")
        if gone:
            lines.append(f"no longer in the file, and left alone: {self._names(gone)}")
        return lines

    def _names(self, runs: Collection[str]) -> str:
        """How many runs, the first of them, and where."""
        first = ", ".join(sorted(runs)[:MOST_NAMED]) + (" …" if len(runs) > MOST_NAMED else "")
        return f"{len(runs)} run{'s' if len(runs) > 1 else ''} in {self.folder} ({first})"

    def mark(self, id: str, state: State, reason: str = "", seconds: float = 0.0) -> Cell:
        """Note how a cell stands, after so many more seconds."""
        cell = self[id]
        self._set(replace(cell, state=state, reason=reason, seconds=cell.seconds + seconds))
        for other in self.cross.cells:
            if other.state == "running" or (other.state, other.reason) == ("same", id):
                self._set(other)
        self.keep()
        return self[id]

    def keep(self) -> None:
        """Write ``cross.json``."""
        self.cross.write(self.folder)

    def _set(self, cell: Cell) -> None:
        """Take a cell as it stands now, with its run."""
        self.cross.cells[self._place[cell.id]] = replace(cell, run=self._run(cell))

    def _run(self, cell: Cell) -> str:
        """Its run's folder, or that of the cell that it is the same as, where there is one."""
        planned = self._grid[cell.reason if cell.state == "same" else cell.id]
        return planned.folder if planned.folder and RunFolder(self.folder / planned.folder).header.exists() else ""

    def _start(self, planned: Planned) -> Cell:
        """The cell as earlier calls left it."""
        cell = Cell(id=planned.id, axes=dict(planned.axes), state=planned.state, reason=planned.reason)
        cell = replace(cell, run=self._run(cell))
        before = self._before.get(planned.id)
        if not planned.runs or before is None or before.run not in ("", planned.folder):
            before = None
        seconds = before.seconds if before else 0.0
        header = header_in(self.folder / cell.run) if cell.run and planned.runs else None
        if header is not None and header.status == "finished":
            return replace(cell, state="finished", reason="", seconds=seconds)
        if planned.state == "waiting" and before is not None and before.state == "failed":
            return replace(cell, state="failed", reason=before.reason, seconds=seconds)
        return replace(cell, reason=cell.reason or ("interrupted" if header is not None else ""), seconds=seconds)


def header_in(folder: Path) -> Header | None:
    """The header of the run in a folder; None where there is none, or none that can be read."""
    try:
        return read_header(RunFolder(folder).header)
    except XplearnError:
        return None
