"""The grid of a cross: what each cell would do, whether it can, and whether another does the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

from xplearn.errors import ConfigError, IncompatibleError, XplearnError
from xplearn.experiment.build import check_experiment
from xplearn.experiment.cross.axes import Axis
from xplearn.experiment.cross.file import CrossFile
from xplearn.experiment.cross.planned import Planned, compose_cell, told
from xplearn.experiment.opening import check_tasks
from xplearn.plugins import Plugins
from xplearn.record.cross import State
from xplearn.schema import Experiment

Done = Callable[[Planned], bool]
"""Whether the run of a cell is finished."""


def build_grid(file: CrossFile, plugins: Plugins, done: Done) -> list[Planned]:
    """Every cell in the order of the grid; nothing is played, and what is done is not looked at again.

    Raises:
        ConfigError: the base or the value of an axis is wrong wherever it is used, or cells would write one bank.
    """
    composed = [compose_cell(file, labels, plugins) for labels in file.combinations()]
    _require_readable(composed, file.axes)
    checked = _Checked(plugins)
    cells = [cell if cell.experiment is None or done(cell) else checked.judged(cell, cell.experiment) for cell in composed]
    _require_own_banks(cells)
    return _without_twins(cells)


def _require_readable(cells: Sequence[Planned], axes: Sequence[Axis]) -> None:
    """Refuse what is wrong not with a combination but with one value of an axis, or with all there is."""
    wrong: dict[str, list[Planned]] = {}
    for cell in cells:
        if cell.experiment is None and cell.state == "unsound":
            wrong.setdefault(cell.reason, []).append(cell)
    for reason, failing in wrong.items():
        blamed = _blamed(failing, cells, axes)
        if blamed:
            raise ConfigError(blamed, reason)


def _blamed(failing: Sequence[Planned], cells: Sequence[Planned], axes: Sequence[Axis]) -> str:
    """Path of the value that all of these cells have and no other, or of what holds it; empty where no value fails everywhere."""
    ids = {cell.id for cell in failing}
    values = {f"axes.{axis.name}.{label}": (axis.name, label) for axis in axes for label in axis.values}
    having = {path: {cell.id for cell in cells if cell.axes[axis] == label} for path, (axis, label) in values.items()}
    alone = [path for path, found in having.items() if found == ids]
    if len(alone) == 1:
        return alone[0]
    if not alone and len(failing) == len(cells):
        return "base"
    return f"cell '{failing[0].id}'" if any(found and found <= ids for found in having.values()) else ""


class _Checked:
    """Says which cells are sound; the tasks of a stream, which are dear to list, are looked at once."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._tasks: dict[str, tuple[State, str]] = {}

    def judged(self, cell: Planned, experiment: Experiment) -> Planned:
        """The cell, with what is wrong with it."""
        state, reason = _verdict(lambda: self._require_sound(experiment))
        if state == "waiting":
            here = copy.copy(experiment)
            here.run = replace(experiment.run, workers=0)
            key = self._key(cell, here)
            if key not in self._tasks:
                self._tasks[key] = _verdict(lambda: check_tasks(here, self._plugins))
            state, reason = self._tasks[key]
        return replace(cell, state=state, reason=reason)

    def _require_sound(self, experiment: Experiment) -> None:
        problems = check_experiment(experiment, self._plugins)
        if problems:
            raise IncompatibleError(problems)

    def _key(self, cell: Planned, experiment: Experiment) -> str:
        """What the check of tasks depends on: where only its own interpreter knows an environment, on all that it must provide."""
        elsewhere = any(stage.env.python for stage in experiment.stream)
        return f"{cell.stream} {experiment.run.track}" + (cell.content if elsewhere else "")


def _verdict(check: Callable[[], None]) -> tuple[State, str]:
    try:
        check()
    except XplearnError as error:
        return told(error)
    return "waiting", ""


def _require_own_banks(cells: Sequence[Planned]) -> None:
    """Refuse a bank outside the run folders that one cell would write and another find written."""
    banks: dict[str, list[Planned]] = {}
    for cell in cells:
        path = cell.experiment.store.fields.get("path") if cell.experiment and cell.runs else None
        if path:
            banks.setdefault(str(path), []).append(cell)
    for path, sharing in banks.items():
        if len({cell.content for cell in sharing}) > 1 and any(cell.experiment and cell.experiment.record for cell in sharing):
            reason = f"'{path}' is the bank of {len(sharing)} cells, and each would find what the others wrote; leave store.path out"
            raise ConfigError("base.store.path", reason)


def _without_twins(cells: Sequence[Planned]) -> list[Planned]:
    """The cells, those that would do what an earlier one does marked as the same."""
    firsts: dict[str, str] = {}
    found = []
    for cell in cells:
        twin = firsts.setdefault(cell.content, cell.id) if cell.runs else cell.id
        found.append(cell if twin == cell.id else replace(cell, state="same", reason=twin))
    return found
