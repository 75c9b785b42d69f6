"""What is wrong not with a combination but with one value of an axis, or with what all cells share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xplearn.errors import ConfigError
from xplearn.experiment.cross.axes import Axis
from xplearn.experiment.cross.file import CrossFile
from xplearn.experiment.cross.planned import Planned


def require_meant(cells: Sequence[Planned], file: CrossFile) -> None:
    """Refuse a file with a mistake in it; what only does not fit together stays in the grid.

    Raises:
        ConfigError: at the value of an axis that all failing cells have and no other, or at what the base says.
    """
    wrong: dict[str, list[Planned]] = {}
    for cell in cells:
        if cell.state == "unsound" and (cell.experiment is None or cell.mistake):
            wrong.setdefault(_cause(cell), []).append(cell)
    for failing in wrong.values():
        reason = failing[0].reason
        if len(failing) == len(cells) and _in_base(failing, file):
            raise ConfigError(f"base.{failing[0].mistake}", reason.removeprefix(f"{failing[0].mistake}: "))
        blamed = _blamed(failing, cells, file.axes)
        if blamed:
            raise ConfigError(blamed, reason)


def _cause(cell: Planned) -> str:
    """Equal for cells that fail for the same thing: the same value of the same key, or else the same words."""
    value = _at(cell.given, cell.mistake)
    return cell.reason if value is None else f"{cell.mistake}={value!r}"


def _in_base(failing: Sequence[Planned], file: CrossFile) -> bool:
    """Whether the base says what is wrong in cells of one cause."""
    value = _at(file.base, failing[0].mistake)
    return value is not None and value == _at(failing[0].given, failing[0].mistake)


def _at(given: Any, path: str) -> Any:
    """The value under a dotted path, None where there is none."""
    for key in path.split("."):
        if isinstance(given, Mapping) and key in given:
            given = given[key]
        elif isinstance(given, list) and key.isdecimal() and int(key) < len(given):
            given = given[int(key)]
        else:
            return None
    return given


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
