"""One cell of a cross as its file plans it."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xplearn.capability import Problem
from xplearn.compose import Raw, compose
from xplearn.config import load_experiment
from xplearn.errors import ConfigError, IncompatibleError, UnknownComponentError, XplearnError
from xplearn.experiment.cross.axes import Labels
from xplearn.experiment.cross.file import CrossFile
from xplearn.experiment.cross.labels import joined, slug
from xplearn.experiment.opening import plain
from xplearn.experiment.stream import stages
from xplearn.plugins import Plugins
from xplearn.record.cross import State
from xplearn.record.folder import UNHASHED, folder_name
from xplearn.schema import Experiment

_BEGINNINGS = 1024
"""How many beginnings of cells are kept composed."""

_MOST_FITTING = 3
"""Parts of a slot that are named where more would do."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A cell with its experiment."""

    id: str
    axes: Labels
    given: Raw
    """Its experiment as composed."""
    experiment: Experiment | None
    """None where it cannot even be read."""
    state: State = "waiting"
    """``waiting`` where it can be run, whether or not it has been; ``failed`` where data or a plugin is missing."""
    reason: str = ""
    mistake: str = ""
    """Path of the key whose value is wrong in itself, not beside the others; empty where none is known to be."""
    earlier: int = 0
    """Number of its runs that were made with other versions than are installed."""
    outdated: str = ""
    """In what the last of them differs."""

    @property
    def runs(self) -> bool:
        """Whether it is there to be run: a failed one is tried again."""
        return self.experiment is not None and self.state in ("waiting", "failed")

    @cached_property
    def stream(self) -> str:
        """What its tasks depend on, as a text to compare: cells of one stream list, and begin with, the same."""
        if self.experiment is None:
            return ""
        played = [(stage.path, stage.config.env, stage.config.tasks, stage.config.warmup) for stage in stages(self.experiment)]
        return repr((played, self.experiment.evaluate.tasks))

    @cached_property
    def folder(self) -> str:
        """Name of its run's folder in that of the cross."""
        return self.folders[-1]

    @cached_property
    def folders(self) -> list[str]:
        """Names of the folders of its runs, those made with other versions first."""
        name = folder_name(self._resolved) if self.experiment else ""
        return [name, *(f"{name}.{number}" for number in range(2, self.earlier + 2))]

    @cached_property
    def content(self) -> str:
        """Its experiment without name and place: equal for two cells that would do the same."""
        run = {key: value for key, value in self._resolved["run"].items() if key not in ("name", *UNHASHED)}
        return json.dumps({**self._resolved, "run": run}, sort_keys=True)

    @cached_property
    def _resolved(self) -> Raw:
        return plain(self.experiment) if self.experiment else {"run": {}}


class Composer:
    """Composes the cells of a cross; what neighbours in the grid begin with is composed once."""

    def __init__(self, file: CrossFile, plugins: Plugins) -> None:
        self._file, self._registry = file, plugins.registry
        self._laid = functools.lru_cache(maxsize=_BEGINNINGS)(self._layer)

    def cell(self, labels: Labels) -> Planned:
        """The base, the values of the axes laid over it in order, and a run of its own."""
        given, experiment = dict(self._file.base), None
        verdict: tuple[State, str] = ("waiting", "")
        mistake = ""
        try:
            for depth in range(1, len(labels) + 1):
                given = self._laid(tuple(labels.values())[:depth])
            given = compose(given, [("run.name", slug(labels)), ("run.dir", str(self._file.folder))], self._registry)
            experiment = self._loaded(given)
        except XplearnError as error:
            verdict, mistake = told(error), mistaken(error)
        state, reason = verdict
        return Planned(id=joined(labels), axes=labels, given=given, experiment=experiment, state=state, reason=reason, mistake=mistake)

    def _layer(self, labels: tuple[str, ...]) -> Raw:
        """The values of the first axes laid over the base."""
        under = self._laid(labels[:-1]) if len(labels) > 1 else self._file.base
        return compose(under, self._file.axes[len(labels) - 1].overrides(labels[-1]), self._registry)

    def _loaded(self, given: Raw) -> Experiment:
        """Loaded under one name for all: a block is checked once for all cells in which it says the same."""
        experiment, _ = load_experiment({**given, "run": {**given["run"], "name": "cell"}}, [], self._registry)
        experiment.run.name = given["run"]["name"]
        return experiment


def mistaken(error: XplearnError) -> str:
    """Path of the key that an error finds wrong, empty where it finds none."""
    return error.path if isinstance(error, ConfigError) else ""


def told(error: XplearnError) -> tuple[State, str]:
    """The state of a cell that raises before it is run, and why: unsound in itself, or for lack of data or a plugin."""
    meant = isinstance(error, ConfigError | IncompatibleError | UnknownComponentError)
    return "unsound" if meant else "failed", in_a_line(error)


def in_a_line(error: BaseException) -> str:
    """What an error says, on one line."""
    if isinstance(error, IncompatibleError):
        return _told(error.problems)
    return " ".join(str(error).split()) or repr(error)


def _told(problems: Sequence[Problem]) -> str:
    """What parts lack; and, once for all that the same would help, some of those that would bring it."""
    cures = [_fitting(found) for found in problems] + [""]
    lines = [f"{found.slot} '{found.name}' requires '{found.capability}': {found.why}" for found in problems]
    return "; ".join(line + (cures[at] if cures[at] != cures[at + 1] else "") for at, line in enumerate(lines))


def _fitting(found: Problem) -> str:
    named = [f"{slot} {', '.join(names[:_MOST_FITTING])}{' …' * (len(names) > _MOST_FITTING)}" for slot, names in found.fitting.items()]
    return f" ({' or '.join(named)} would do)" if named else ""
