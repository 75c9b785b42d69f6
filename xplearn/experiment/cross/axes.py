"""The axes of a cross: what each of their values puts into an experiment, and patterns that pick cells by label."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xplearn.compose import Override
from xplearn.config import KEYS
from xplearn.errors import ConfigError, nearest
from xplearn.experiment.cross.labels import label, labelled, sound

SEED = "seed"
BACKBONE = "backbone"
SHORT = {SEED: "run.seed", BACKBONE: "preset"}
"""Key of an experiment that an axis of a shorter name stands for; ``backbone: tiny`` is the preset ``backbone.tiny``."""

_TAKEN = ("run.name", "run.dir")

Labels = Mapping[str, str]
"""Label by axis."""

Pattern = Mapping[str, frozenset[str]]
"""Labels by axis: matches the cells that have one of them on each of these axes."""

Places = Callable[[str, Mapping[str, Any]], Sequence[str]]
"""Dotted paths at which an experiment takes a field of a name, from what else is said beside it."""


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis."""

    name: str
    values: Mapping[str, Any]
    """By label, in order."""

    def overrides(self, label: str) -> Sequence[Override]:
        """What the value of this label lays over an experiment."""
        value = self.values[label]
        if self.name == BACKBONE:
            return [("preset", [f"{BACKBONE}.{value}"])]
        return list(value.items()) if _is_bundle(self.name, value) else [(SHORT.get(self.name, self.name), value)]


def read_axes(raw: Any, places: Places = lambda *_: []) -> list[Axis]:
    """The axes of a cross file.

    Args:
        raw: by name.
        places: tells where a field belongs that is said elsewhere.

    Raises:
        ConfigError: an axis without values, of a name that is nearly a key, or with values of a wrong kind.
    """
    if not isinstance(raw, Mapping) or not raw:
        raise ConfigError("axes", "want a mapping from axis to values, e.g. {selector: [core.none, core.nearest], seed: [0, 1]}")
    names = [SEED if name == SHORT[SEED] else sound(str(name), "axes") for name in raw]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"axes.{twice}", f"is there twice: '{twice}' is short for '{SHORT[twice]}'")
    return [_axis(name, values, places) for name, values in zip(names, raw.values(), strict=True)]


def read_patterns(key: str, raw: Any, axes: Sequence[Axis]) -> list[Pattern]:
    """The patterns under a key of a cross file.

    Raises:
        ConfigError: an axis or label that there is not, with the nearest.
    """
    if not isinstance(raw, list) or not all(isinstance(item, Mapping) and item for item in raw):
        raise ConfigError(key, f"want a list of patterns from axis to label, e.g. [{{{axes[0].name}: {next(iter(axes[0].values))}}}]")
    known = {axis.name: axis for axis in axes}
    return [dict(_picked(f"{key}.{number}", str(name), wanted, known) for name, wanted in item.items()) for number, item in enumerate(raw)]


def matches(pattern: Pattern, cell: Labels) -> bool:
    """Whether a cell has one of the pattern's labels on each of its axes."""
    return all(cell[axis] in wanted for axis, wanted in pattern.items())


def _axis(name: str, raw: Any, places: Places) -> Axis:
    path = f"axes.{name}"
    if name in _TAKEN:
        raise ConfigError(path, "a cross names the runs of its cells itself, and puts them into its own folder")
    values = labelled(raw, path)
    axis = Axis(name=name, values={text: {} if value is None and _is_bundle(name, value) else value for text, value in values.items()})
    wrong = [value for value in axis.values.values() if not isinstance(value, str)]
    if name == BACKBONE and wrong:
        raise ConfigError(path, f"want the end of a preset's name, e.g. 'tiny' for {BACKBONE}.tiny, not {wrong[0]!r}")
    for text, value in axis.values.items():
        if _is_bundle(name, value):
            _require_keys(name, text, value, places)
    return axis


def _is_key(name: str) -> bool:
    return name in SHORT or name.partition(".")[0] in KEYS


def _is_bundle(name: str, value: Any) -> bool:
    """Whether a value is to be a mapping of experiment keys: on an axis of a name of its own, or where the key says itself among others."""
    return not _is_key(name) or (isinstance(value, Mapping) and name in value)


def _require_keys(name: str, text: str, value: Any, places: Places) -> None:
    """Refuse a value of an axis of its own that is no mapping of experiment keys; the axis may be a misspelt key."""
    hint = None if _is_key(name) else next(iter(places(name, {})), nearest(name, (*KEYS, *SHORT)))
    meant = f"; did you mean '{hint}'?" if hint else ""
    wanted = "an axis of a name of its own wants a mapping of such keys for each value"
    if not isinstance(value, Mapping):
        raise ConfigError(f"axes.{name}", f"no key of an experiment is called that{meant} ({wanted})")
    unknown = next((str(key) for key in value if str(key).partition(".")[0] not in KEYS), None)
    if unknown is None:
        return
    guess = _guess(unknown, value, places)
    if hint and not guess:
        raise ConfigError(f"axes.{name}", f"no key of an experiment is called that{meant} ({wanted}, and '{unknown}' is none)")
    raise ConfigError(f"axes.{name}.{text}.{unknown}", f"no key of an experiment is called that{guess} (known: {', '.join(KEYS)})")


def _guess(unknown: str, value: Mapping[str, Any], places: Places) -> str:
    """What to say in place of a key that no experiment has; empty where nothing is near."""
    path = next((path for path in places(unknown, value) if path not in _TAKEN), None)
    if path is None:
        key = nearest(unknown, KEYS)
        return f"; did you mean '{key}'?" if key else ""
    said, part = json.dumps(value[unknown], default=str), value.get(path.partition(".")[0])
    within = f", or say it in the part, {{name: {part}, {unknown}: {said}}}" if isinstance(part, str) else ""
    return f"; did you mean {path}: {said}{within}?"


def _picked(path: str, name: str, wanted: Any, known: Mapping[str, Axis]) -> tuple[str, frozenset[str]]:
    axis = known.get(SEED if name == SHORT[SEED] else name)
    if axis is None:
        raise ConfigError(path, f"no axis is called '{name}'{_hint(name, known)} (axes: {', '.join(known)})")
    labels = [label(item) for item in (wanted if isinstance(wanted, list) else [wanted])]
    for text in labels:
        if text not in axis.values:
            raise ConfigError(f"{path}.{name}", f"no value is called '{text}'{_hint(text, axis.values)} (there: {', '.join(axis.values)})")
    return axis.name, frozenset(labels)


def _hint(name: str, known: Mapping[str, Any]) -> str:
    hint = nearest(name, known)
    return f"; did you mean '{hint}'?" if hint else ""
