"""One cell of a cross as its file plans it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

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
        return folder_name(plain(self.experiment)) if self.experiment else ""

    @cached_property
    def content(self) -> str:
        """Its experiment without name and place: equal for two cells that would do the same."""
        resolved = plain(self.experiment) if self.experiment else {"run": {}}
        run = {key: value for key, value in resolved["run"].items() if key not in ("name", *UNHASHED)}
        return json.dumps({**resolved, "run": run}, sort_keys=True)


def compose_cell(file: CrossFile, labels: Labels, plugins: Plugins) -> Planned:
    """The base, the values of the axes laid over it in order, and a run of its own."""
    given, experiment = dict(file.base), None
    place = [("run.name", slug(labels)), ("run.dir", str(file.folder))]
    verdict: tuple[State, str] = ("waiting", "")
    mistake = ""
    try:
        for layer in [*(axis.overrides(labels[axis.name]) for axis in file.axes), place]:
            given = compose(given, layer, plugins.registry)
        experiment, _ = load_experiment(given, [], plugins.registry)
    except XplearnError as error:
        verdict, mistake = told(error), mistaken(error)
    return Planned(id=joined(labels), axes=labels, given=given, experiment=experiment, state=verdict[0], reason=verdict[1], mistake=mistake)


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
        return "; ".join(f"{found.slot} '{found.name}' requires '{found.capability}': {found.why}" for found in error.problems)
    return " ".join(str(error).split()) or repr(error)
