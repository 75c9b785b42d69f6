"""Configurations as tables: in what those of runs differ, and what the labels of a cross stand for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xplearn.record.cross import Cross
from xplearn.report.figure import Cell, Sheet

_OWN = ("name", "dir")
"""Keys of ``run`` that differ between any two runs."""

_MISSING = object()


def config_sheet(resolved: Mapping[str, Mapping[str, Any]], *, name: str = "config-table") -> Sheet | None:
    """What differs between configurations; None where nothing does.

    A path goes as deep as the runs have the same parts there; of whatever there are fewer, paths or runs, are the columns.

    Args:
        resolved: ``Header.resolved`` by name of the run.
        name: of the sheet.
    """
    found = dict(_differing("", list(map(_shared, resolved.values()))))
    if not found:
        return None
    runs = list(resolved)
    if len(found) < len(runs):
        columns, rows = ["run", *found], [[run, *(values[at] for values in found.values())] for at, run in enumerate(runs)]
    else:
        columns, rows = ["path", *runs], [[path, *values] for path, values in found.items()]
    return Sheet(
        name=name,
        title="What differs between the runs",
        caption="Paths of the configuration whose values are not the same in every run; a dash where a run has nothing there.",
        columns=columns,
        rows=rows,
    )


def labels_sheet(cross: Cross, *, name: str = "labels-table") -> Sheet | None:
    """What the labels of a cross stand for: a row for each value of its axes; None where every label says it all."""
    given = cross.given.get("axes")
    rows = [
        (axis, label, _bare(_said(value)))
        for axis, labels in cross.axes.items()
        if isinstance(given, Mapping)
        for label, value in zip(labels, _listed(given.get(axis)), strict=False)
        if _said(value) != label
    ]
    if not rows:
        return None
    return Sheet(
        name=name,
        title="What the labels stand for",
        caption="What each value of an axis adds to the configuration that all cells share.",
        columns=("axis", "label", "settings"),
        rows=rows,
    )


def _shared(config: Mapping[str, Any]) -> dict[str, Any]:
    run = config.get("run", {})
    return {**config, "run": {key: value for key, value in run.items() if key not in _OWN}}


def _differing(path: str, values: Sequence[Any]) -> Iterator[tuple[str, list[Cell]]]:
    """The deepest paths that all have, as far as the same parts stand there, and what each has."""
    if all(value == values[0] for value in values):
        return
    inner = _keys(values)
    if not inner:
        yield path, [None if value in (_MISSING, [], {}) else _said(value) for value in values]
    for key in inner:
        yield from _differing(f"{path}.{key}" if path else str(key), [_at(value, key) for value in values])


def _keys(values: Sequence[Any]) -> list[Any]:
    """Of mappings that are the same part, or none; of lists of one length; nothing of other values."""
    if all(isinstance(value, Mapping) for value in values) and len({str(value.get("name")) for value in values}) == 1:
        return list(dict.fromkeys(key for value in values for key in value))
    if all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1:
        return list(range(len(values[0])))
    return []


def _at(value: Any, key: Any) -> Any:
    return value.get(key, _MISSING) if isinstance(value, Mapping) else value[key]


def _said(value: Any) -> str:
    """A value in one line; a part by its name and what is set of it."""
    if isinstance(value, Mapping):
        fields = value.get("fields")
        set_ = {**value, **fields} if isinstance(fields, Mapping) else value
        rest = {key: inner for key, inner in set_.items() if key not in ("name", "fields") and inner not in (None, "")}
        inside = ", ".join(f"{key}: {_said(inner)}" for key, inner in rest.items())
        name = str(value.get("name", ""))
        return f"{name} {{{inside}}}" if name and inside else name or f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_said, value))}]"
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _bare(said: str) -> str:
    """Settings without the braces around them all; a part keeps those of its fields."""
    return said[1:-1] if said.startswith("{") else said


def _listed(values: Any) -> list[Any]:
    return list(values.values()) if isinstance(values, Mapping) else values if isinstance(values, list) else []
