"""Ranges of the configuration's own values; fields of parts are checked by the parts."""

from __future__ import annotations

from typing import get_args

from xplearn.errors import ConfigError, nearest
from xplearn.experiment.stream import ARMS, stages
from xplearn.schema import Experiment, TaskSlice
from xplearn.types import Choices


def check_values(experiment: Experiment) -> None:
    """Refuse values that no run can be carried out with.

    Raises:
        ConfigError: the first one, with its path.
    """
    stages(experiment)
    for path, block in (("sampling", experiment.sampling), ("evaluate.sampling", experiment.evaluate.sampling)):
        _require_one_of(f"{path}.choices", block.choices, get_args(Choices))
        _require(f"{path}.max_new_tokens", block.max_new_tokens >= 1, "want at least 1")
        _require(f"{path}.temperature", block.temperature >= 0, "want 0 (greedy) or more")
        _require(f"{path}.top_p", 0 < block.top_p <= 1, "want above 0 and at most 1")
    for arm in experiment.evaluate.arms:
        _require_one_of("evaluate.arms", arm, ARMS)
    _require("evaluate.arms", bool(experiment.evaluate.arms), "want at least one arm, e.g. [plain, experience]")
    _require("evaluate.replicas", experiment.evaluate.replicas >= 1, "want at least 1")
    _require("evaluate.confidence", 0 < experiment.evaluate.confidence < 1, "want a share between 0 and 1, e.g. 0.95")
    _require("evaluate.resamples", experiment.evaluate.resamples >= 1, "want at least 1, e.g. 2000")
    _require("replay.ratio", experiment.replay.ratio >= 0, "want 0 or more replayed trajectories per new one")
    _require("run.batch", experiment.run.batch >= 1, "want at least 1")
    _require("run.workers", experiment.run.workers >= 0, "want 0 or more")
    _require("run.max_steps", experiment.run.max_steps is None or experiment.run.max_steps >= 1, "want at least 1, or nothing for no limit")
    _require("run.step_seconds", experiment.run.step_seconds > 0, "want more than 0")
    _require("run.name", "/" not in experiment.run.name and bool(experiment.run.name), "want a name without slashes")
    _check_slice("evaluate.tasks", experiment.evaluate.tasks)
    for index, stage in enumerate(experiment.stream):
        _require(f"stream.{index}.rounds", stage.rounds >= 1, "want at least 1")
        _check_slice(f"stream.{index}.tasks", stage.tasks)


def _check_slice(path: str, which: TaskSlice) -> None:
    _require(f"{path}.skip", which.skip >= 0, "want 0 or more")
    _require(f"{path}.per_kind", which.per_kind is None or which.per_kind >= 1, "want at least 1, or nothing for all")
    _require(f"{path}.limit", which.limit is None or which.limit >= 1, "want at least 1, or nothing for all")


def _require(path: str, sound: bool, reason: str) -> None:
    if not sound:
        raise ConfigError(path, reason)


def _require_one_of(path: str, value: str, known: tuple[str, ...]) -> None:
    hint = nearest(value, known)
    _require(path, value in known, f"'{value}' is unknown; want one of {', '.join(known)}" + (f"; did you mean '{hint}'?" if hint else ""))
