"""What a cross file says."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xplearn import config
from xplearn.compose import Raw, compose
from xplearn.errors import ConfigError, nearest
from xplearn.experiment.cross.axes import SHORT, Axis, Labels, Pattern, matches, read_axes, read_patterns
from xplearn.experiment.cross.labels import joined
from xplearn.registry import Registry
from xplearn.schema import NAME

KEYS = ("name", "dir", "base", "axes", "only", "skip", "first")
PATTERNS = ("only", "skip", "first")

MOST_CELLS = 10_000
"""Largest grid, before ``only`` and ``skip``."""

Source = str | Path | Mapping[str, Any]
"""Path of a cross file, or the mapping that such a file holds."""


@dataclass(frozen=True, kw_only=True)
class CrossFile:
    """A cross file, read and checked apart from the experiments it makes."""

    name: str
    dir: str
    base: Raw
    """What all cells share, presets expanded."""
    axes: Sequence[Axis]
    only: Sequence[Pattern]
    skip: Sequence[Pattern]
    first: Sequence[Pattern]
    given: Raw
    """As it was given."""
    notes: Sequence[str] = ()
    """Lines to tell of what was read otherwise than it may be meant."""

    @property
    def folder(self) -> Path:
        """Where the cross lies."""
        return Path(self.dir) / self.name

    def combinations(self) -> Iterator[Labels]:
        """The cells of the grid, the last axis varying fastest."""
        for labels in itertools.product(*(axis.values for axis in self.axes)):
            cell = dict(zip((axis.name for axis in self.axes), labels, strict=True))
            wanted = not self.only or any(matches(pattern, cell) for pattern in self.only)
            if wanted and not any(matches(pattern, cell) for pattern in self.skip):
                yield cell


def read_cross(source: Source, registry: Registry) -> CrossFile:
    """Read a cross file.

    Args:
        source: its path, or the mapping that it holds.
        registry: where presets are found.

    Raises:
        ConfigError: it cannot be read, or something in it is wrong, with its path and the nearest valid name.
    """
    here = Path() if isinstance(source, Mapping) else Path(source).parent
    composed = compose(source if isinstance(source, Mapping) else str(source), [], registry)
    given = json.loads(json.dumps(composed, default=str), object_pairs_hook=_unique)
    unknown = next((key for key in given if key not in KEYS), None)
    if unknown in config.KEYS and "axes" not in given:
        how = "xplearn.run(…)" if isinstance(source, Mapping) else f"xplearn run {source}"
        raise ConfigError("axes", f"there are none; this is an experiment: {how}")
    if unknown is not None:
        raise ConfigError(unknown, f"no key of a cross file; {_belongs(unknown)} (known: {', '.join(KEYS)})")
    base = _base(given.get("base", {}), here, registry)
    axes = read_axes(given.get("axes"), lambda field, beside: _places(field, beside, base, registry))
    _require_size(axes)
    patterns = {key: read_patterns(key, given.get(key, []), axes) for key in PATTERNS}
    default = "cross" if isinstance(source, Mapping) else Path(source).stem
    name, folder = _name(given.get("name", default)), _dir(given.get("dir", "runs"))
    found = CrossFile(name=name, dir=folder, base=base, axes=axes, given=given, notes=_notes(composed["axes"]), **patterns)
    _require_cells([joined(labels) for labels in found.combinations()])
    return found


def _notes(axes: Mapping[str, Any]) -> list[str]:
    """What to say of labels that YAML takes for truth values."""
    taken = [name for name, values in axes.items() if isinstance(values, Mapping) and any(isinstance(label, bool) for label in values)]
    return [f"axes.{name}: YAML reads the labels on, yes, off, no as true and false; to keep them, write them in quotes" for name in taken]


def _belongs(key: str) -> str:
    """Where a key that stands at the top of a cross file was meant to."""
    names = (*config.KEYS, *SHORT)
    meant = key if key in names else nearest(key, (*KEYS, *names))
    if meant in KEYS:
        return f"did you mean '{meant}'?"
    axis, (block, _, field) = meant or "…", SHORT.get(meant or "", meant or "…").partition(".")
    shared = f"{block}: {{{field}: …}}" if field else f"{block}: …"
    return f"what all cells share stands under 'base' ({shared}), what they differ in under 'axes' ({axis}: […])"


def _places(field: str, beside: Mapping[str, Any], base: Raw, registry: Registry) -> list[str]:
    """Where a field belongs: to a part beside it, or one of the base."""
    return config.field_paths(field, {**base, **beside}, registry)


def _require_cells(ids: Sequence[str]) -> None:
    if not ids:
        raise ConfigError("skip", "and 'only' leave no cell; loosen one of their patterns")
    twice = next((id for id, times in Counter(ids).items() if times > 1), None)
    if twice is not None:
        raise ConfigError("axes", f"make two cells called '{twice}'; give one of their labels another name")


def _unique(pairs: Sequence[tuple[str, Any]]) -> Raw:
    """A mapping whose keys stay apart when they are written as text."""
    twice = next((key for key, times in Counter(key for key, _ in pairs).items() if times > 1), None)
    if twice is not None:
        raise ConfigError(twice, "is there twice, as a text and as a number or the like; give one of them another name")
    return dict(pairs)


def _base(raw: Any, here: Path, registry: Registry) -> Raw:
    """The mapping under ``base``: an experiment's own, or that of a file (beside the cross file, or from here) or preset."""
    if not isinstance(raw, str | Mapping):
        raise ConfigError("base", f"want what an experiment file holds, its path, or the name of a preset, not {raw!r}")
    beside = isinstance(raw, str) and (here / raw).is_file()
    try:
        return compose(str(here / str(raw)) if beside else raw, [], registry)
    except ConfigError as error:
        raise ConfigError("base", str(error)) from None


def _name(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConfigError("name", f"{str(name)[:80]!r} cannot name a folder; want at most 100 letters, digits, '-', '_' and '.'")
    return name


def _dir(folder: Any) -> str:
    if not isinstance(folder, str) or not folder:
        raise ConfigError("dir", f"want the folder that the cross is put into, not {folder!r}")
    return folder


def _require_size(axes: Sequence[Axis]) -> None:
    size = math.prod(len(axis.values) for axis in axes)
    if size > MOST_CELLS:
        sizes = " × ".join(f"{len(axis.values)} {axis.name}" for axis in axes)
        raise ConfigError("axes", f"make {size:,} cells ({sizes}); want at most {MOST_CELLS:,}")
