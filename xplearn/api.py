"""The library in four calls: build a part, run an experiment, cross many, read a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xplearn.plugins import installed
from xplearn.registry import Slot

if TYPE_CHECKING:
    from xplearn.component import Component
    from xplearn.experiment.cross.run import CrossResult
    from xplearn.experiment.run import RunResult
    from xplearn.record.reader import Run


def make(slot: Slot, name: str, /, **fields: Any) -> Component:
    """Build one registered part.

    Args:
        slot: ``environment``, ``store``, ``selector``, ``conditioner``, ``learner``, ``policy`` or ``encoder``.
        name: registered name, e.g. ``alfworld.text``.
        fields: its configuration.

    Raises:
        UnknownComponentError: no such part; the message suggests the nearest.
        ConfigError: a field is unknown or has a wrong type or value.
    """
    return installed().registry.make(slot, name, **fields)


def run(config: str | Path | dict[str, Any] | None = None, **overrides: Any) -> RunResult:
    """Run an experiment, or go on with it where it stopped.

    Args:
        config: path of a YAML file, name of a preset, or the mapping such a file holds.
        overrides: laid on it, dots written as two underscores: ``run__seed=1``.

    Raises:
        ConfigError: a key, type or value is wrong, with its path.
        IncompatibleError: the parts do not fit together.
    """
    from xplearn.config import load_experiment
    from xplearn.experiment.run import run_experiment

    plugins = installed()
    pairs = [(key.replace("__", "."), value) for key, value in overrides.items()]
    source = str(config) if isinstance(config, Path) else config
    experiment, given = load_experiment(source, pairs, plugins.registry)
    return run_experiment(experiment, plugins=plugins, given=given)


def cross(source: str | Path | dict[str, Any], *, minutes: float | None = None, cells: int | None = None, jobs: int = 1) -> CrossResult:
    """Run every sound combination of the values on a cross's axes, or go on where it stopped.

    Args:
        source: path of a cross file, or the mapping that such a file holds.
        minutes: begin no cell that would go on after so many.
        cells: run at most so many.
        jobs: run so many at once, each in a process of its own with the installed plugins.

    Raises:
        ConfigError: something in the file is wrong; nothing was run.
        RecordError: another process runs this cross, or its folder cannot be used.
    """
    from xplearn.experiment.cross.order import Budget
    from xplearn.experiment.cross.run import run_cross

    return run_cross(source, plugins=installed(), budget=Budget(minutes=minutes, cells=cells, jobs=jobs))


def load(folder: str | Path) -> Run:
    """Read a run folder.

    Raises:
        RecordError: the folder is damaged, newer than this version, or not a run.
    """
    from xplearn.record import reader

    return reader.load(Path(folder))
