"""Reading a bank where it lies: a file, or as a run's checkpoint holds it. Nothing is written; a run in progress is not disturbed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xplearn.errors import RecordError
from xplearn.record.folder import RunFolder
from xplearn.record.kept import kept, last_checkpoint
from xplearn.record.reader import load

if TYPE_CHECKING:
    from xplearn.interfaces import ExperienceStore


def bank_path(given: str) -> Path:
    """The bank file that words of a command line mean: a file, a run folder, or ``RUN@STAGE``.

    A run's bank is the last checkpoint's, wherever the run keeps it: what a change under way made of it may still be undone. ``STAGE``
    counts as ``xplearn show`` does, from 1 and without warm-up stages.

    Raises:
        RecordError: there is no bank, or no checkpoint of that stage was kept.
    """
    run, at, stage = given.rpartition("@")
    path = Path(run) if at and not Path(given).exists() else Path(given)
    if not path.is_dir():
        if not path.exists():
            raise RecordError(path, "there is no bank here; give a run folder that 'xplearn run' made, or the file of a bank")
        if path != Path(given):
            raise RecordError(path, f"is no run folder, and only a run has stages; leave '@{stage}' out")
        return path
    if path != Path(given):
        return _of_stage(path, stage)
    last = last_checkpoint(RunFolder(path).checkpoints)
    found = last.path if last is not None else RunFolder(path).bank / "bank.sqlite"
    if not found.is_file():
        raise RecordError(path, "holds no bank; give a run folder that 'xplearn run' made, or the file of a bank")
    return found


@contextmanager
def open_bank(given: str | Path) -> Iterator[ExperienceStore]:
    """The bank of a file, run folder or ``RUN@STAGE``, copied into memory.

    Raises:
        RecordError: as ``bank_path``, or the file is no bank, a damaged or a newer one.
    """
    from xplearn.stores.memory import MemoryStore

    store = MemoryStore()
    try:
        _restore(store, str(given))
        yield store
    finally:
        store.close()


def _restore(store: ExperienceStore, given: str) -> None:
    """Copy the bank; where a run in progress drops the checkpoint just then, its next one."""
    path = bank_path(given)
    try:
        store.restore(str(path))
    except RecordError:
        if path.exists():
            raise
        store.restore(str(bank_path(given)))


def _of_stage(run: Path, stage: str) -> Path:
    counted = [index for index, config in enumerate(load(run).header.resolved["stream"]) if not config["warmup"]]
    index = {str(number): index for number, index in enumerate(counted, start=1)}
    if stage not in index:
        raise RecordError(run, f"has no stage '{stage}'; its stages are 1 to {len(counted)}")
    found = [checkpoint for checkpoint in kept(RunFolder(run).checkpoints) if checkpoint.stage == index[stage]]
    if not found:
        raise RecordError(run, f"has kept no checkpoint of stage {stage}; the last of each finished stage is kept, and the newest")
    return found[-1].path
