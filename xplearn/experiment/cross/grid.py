"""The grid of a cross: what each cell would do, whether it can, and whether another does the same."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

from xplearn.errors import ConfigError, IncompatibleError, XplearnError
from xplearn.experiment.build import check_experiment
from xplearn.experiment.cross.blame import require_meant
from xplearn.experiment.cross.file import CrossFile
from xplearn.experiment.cross.planned import Composer, Planned, mistaken, told
from xplearn.experiment.opening import check_tasks
from xplearn.plugins import Plugins
from xplearn.schema import Experiment

Done = Callable[[Planned], bool]
"""Whether the run of a cell is finished."""

Placed = Callable[[Planned], Planned]
"""The cell with the folder of its run."""


def build_grid(file: CrossFile, plugins: Plugins, done: Done, placed: Placed = lambda cell: cell) -> list[Planned]:
    """Every cell in the order of the grid; nothing is played, and what is done is not looked at again.

    Args:
        file: what was asked for.
        plugins: where parts are found.
        done: says of a cell in its place whether it is finished.
        placed: gives it its place; by default a new one.

    Raises:
        ConfigError: the base or the value of an axis is wrong wherever it is used, or cells would write one bank.
    """
    composer = Composer(file, plugins)
    composed = [composer.cell(labels) for labels in file.combinations()]
    require_meant(composed, file)
    checked = _Checked(plugins)
    cells = [cell if cell.experiment is None or done(cell) else checked.judged(cell, cell.experiment) for cell in map(placed, composed)]
    require_meant(cells, file)
    _require_own_banks(cells)
    return _without_twins(cells)


class _Checked:
    """Says which cells are sound; the tasks of a stream, which are dear to list, are looked at once."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins
        self._tasks: dict[str, XplearnError | None] = {}

    def judged(self, cell: Planned, experiment: Experiment) -> Planned:
        """The cell, with what is wrong with it."""
        wrong = _raised(lambda: self._require_sound(experiment))
        if wrong is not None:
            return _with(cell, wrong)
        here = copy.copy(experiment)
        here.run = replace(experiment.run, workers=0)
        key = self._key(cell, here)
        if key not in self._tasks:
            self._tasks[key] = _raised(lambda: check_tasks(here, self._plugins))
        wrong = self._tasks[key]
        return cell if wrong is None else replace(_with(cell, wrong), mistake=mistaken(wrong))

    def _require_sound(self, experiment: Experiment) -> None:
        problems = check_experiment(experiment, self._plugins)
        if problems:
            raise IncompatibleError(problems)

    def _key(self, cell: Planned, experiment: Experiment) -> str:
        """What the check of tasks depends on: where only its own interpreter knows an environment, on all that it must provide."""
        elsewhere = any(stage.env.python for stage in experiment.stream)
        return f"{cell.stream} {experiment.run.track}" + (cell.content if elsewhere else "")


def _raised(check: Callable[[], object]) -> XplearnError | None:
    try:
        check()
    except XplearnError as error:
        return error.with_traceback(None)
    return None


def _with(cell: Planned, wrong: XplearnError) -> Planned:
    state, reason = told(wrong)
    return replace(cell, state=state, reason=reason)


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
