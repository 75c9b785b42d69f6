"""Writes docs/reference from the registry and the schema: ``python docs/generate_reference.py``. A test compares, so it cannot drift."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from xplearn.cli.described import Described, as_yaml, block_in, capabilities, described, described_field, summary
from xplearn.config import SLOT_OF, Composition
from xplearn.plugins import installed
from xplearn.registry import SLOTS, Entry
from xplearn.schema import EnvSpec, Experiment, PartSpec

FOLDER = Path(__file__).parent / "reference"
EXAMPLE = "plugins/xplearn-hamo/xplearn_hamo/presets/mini/hamo_cross.yaml"

PARTS = """\
# Parts

Generated from the registry by `python docs/generate_reference.py`. Fields are what an [experiment file](experiment.md) may say of a part;
defaults are written as YAML. The same for one part in a terminal: `xplearn plugins hamo.coverage`.
"""

EXPERIMENT = f"""\
# The experiment file

Generated from the schema by `python docs/generate_reference.py`. An experiment is a YAML mapping of the keys below; every key has a default
but `stream` and `policy`, and defaults are written as YAML. Each is also an override on the command line: its dotted path, with stages and
items of a list by number, e.g. `stream.0.tasks.limit=20` or `learner.0.lr=1e-4`.

A **part** is the name it is registered by (`core.nearest`), or a mapping of the name and its fields (`{{name: core.nearest, k: 3}}`). Names
and fields: [parts](parts.md), or `xplearn plugins`. What is laid on a preset merges key by key; another name in a part's place drops the
fields of the old one; a list is replaced whole, unless a mapping by number changes its items (`learner: {{0: {{lr: 1e-4}}}}`).

A whole one: [{Path(EXAMPLE).name}](../../{EXAMPLE}).
"""

HEAD = ["| {} | type | default | meaning |", "|---|---|---|---|"]

Blocks = dict[type[Any], list[str]]
"""Paths at which each block stands, e.g. ``sampling`` and ``evaluate.sampling``."""


def pages() -> Mapping[Path, str]:
    """Every page by its path."""
    return {FOLDER / "parts.md": parts(), FOLDER / "experiment.md": experiment()}


def parts() -> str:
    """The page of all registered parts."""
    lines = [PARTS]
    for slot in SLOTS:
        lines += [f"## {slot}", ""]
        for entry in installed().registry.entries(slot):
            lines += _part(entry)
    return "\n".join(lines).rstrip() + "\n"


def _part(entry: Entry) -> list[str]:
    cls = entry.load()
    lines = [f"### `{entry.name}`", "", summary(cls), ""]
    found = [f"{word} " + ", ".join(f"`{name}`" for name in names) for word, names in capabilities(cls).items()]
    lines += [" · ".join(found), ""] if found else []
    return lines + _table("field", [_row(field) for field in described(cls)])


def experiment() -> str:
    """The page of the experiment file."""
    blocks: Blocks = {}
    _gather(Experiment, "", blocks)
    lines = [EXPERIMENT, "## At the top", ""]
    lines += _table("key", [_row(field) for field in described(Composition)] + list(_keys(Experiment, blocks)))
    for block, paths in blocks.items():
        lines += [f"## {_heading(paths)}", "", summary(block), "", *_table("key", list(_keys(block, blocks)))]
    python = described_field(EnvSpec, next(field for field in dataclasses.fields(EnvSpec) if field.name == "python"))
    lines += ["## `stream.N.env`", "", "A part; beside its own fields:", "", *_table("key", [_row(python)])]
    return "\n".join(lines).rstrip() + "\n"


def _gather(block: type[Any], path: str, blocks: Blocks) -> None:
    """Add the blocks inside a block, in order, with the paths at which they stand."""
    for name, hint in get_type_hints(block).items():
        inner = block_in(hint)
        if inner is not None and not issubclass(inner, PartSpec):
            place = f"{path}{name}" + (".N" if get_origin(hint) is list else "")
            blocks.setdefault(inner, []).append(place)
            _gather(inner, f"{place}.", blocks)


def _keys(block: type[Any], blocks: Blocks) -> Iterator[str]:
    """A row for each key of a block, where blocks inside it are links."""
    for field in dataclasses.fields(block):
        hint = get_type_hints(block)[field.name]
        inner, own = block_in(hint), described_field(block, field)
        if inner is None:
            yield _row(own)
        else:
            several = get_origin(hint) is list
            kind = _part_type(field.name, several) if issubclass(inner, PartSpec) else _link(blocks[inner], several)
            yield _row(own._replace(default=_block_default(field)), kind)


def _part_type(name: str, several: bool) -> str:
    slot = SLOT_OF.get(name, "environment")
    return f"[{slot}](parts.md#{slot})" + (" or a list of them" if several else "")


def _link(paths: list[str], several: bool) -> str:
    heading = _heading(paths)
    anchor = "".join(letter for letter in heading.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")
    return f"[{'list of ' if several else ''}{heading}](#{anchor})"


def _heading(paths: list[str]) -> str:
    return " and ".join(f"`{path}`" for path in paths)


def _block_default(field: dataclasses.Field[Any]) -> str:
    """The default of a block as a file says it: a part's name, or what differs from the block's own defaults."""
    if field.default_factory is dataclasses.MISSING:
        return "required"
    value: Any = field.default_factory()
    if isinstance(value, PartSpec):
        return value.name
    if not dataclasses.is_dataclass(value):
        return as_yaml(value)
    usual = {item.name: item.default for item in dataclasses.fields(value)}
    return as_yaml({key: item for key, item in vars(value).items() if usual[key] not in (item, dataclasses.MISSING)})


def _row(field: Described, kind: str = "") -> str:
    name, type_, default, meaning = (text.replace("|", "\\|") for text in field)
    return f"| `{name}` | {kind or f'`{type_}`'} | {default if default in ('required', 'as below') else f'`{default}`'} | {meaning} |"


def _table(key: str, rows: list[str]) -> list[str]:
    return [HEAD[0].format(key), HEAD[1], *rows, ""] if rows else []


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
