"""Writes docs/reference/parts.md from the registry: ``python docs/generate_reference.py``. A test compares, so it cannot drift."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from xplearn.errors import XplearnError
from xplearn.plugins import installed
from xplearn.registry import SLOTS, Entry

TARGET = Path(__file__).parent / "reference" / "parts.md"


def reference() -> str:
    """The whole page."""
    lines = [
        "# Parts",
        "",
        "Generated from the registry by `python docs/generate_reference.py`. Fields are what a configuration file may say.",
        "",
    ]
    for slot in SLOTS:
        lines += [f"## {slot}", ""]
        for entry in installed().registry.entries(slot):
            lines += _part(entry)
    return "\n".join(lines).rstrip() + "\n"


def _part(entry: Entry) -> list[str]:
    cls = entry.load()
    lines = [f"### `{entry.name}`", "", f"{_summary(cls)}", ""]
    capabilities = _capabilities(cls)
    if capabilities:
        lines += [capabilities, ""]
    rows = [
        f"| `{field.name}` | `{_type(cls, field)}` | {_default(field)} | {_field_docs(cls).get(field.name, '')} |"
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
        if field.init
    ]
    return [*lines, "| field | type | default | meaning |", "|---|---|---|---|", *rows, ""] if rows else lines


def _summary(cls: type[Any]) -> str:
    return inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def _capabilities(cls: type[Any]) -> str:
    try:
        part = cls()
    except (TypeError, XplearnError):
        return ""
    found = [("provides", part.provides), ("requires", part.requires)]
    return " · ".join(f"{word} " + ", ".join(f"`{name}`" for name in sorted(names)) for word, names in found if names)


def _type(cls: type[Any], field: dataclasses.Field[Any]) -> str:
    """The annotation as it stands; a name for a few literal values is told as these values."""
    hint = get_type_hints(cls)[field.name]
    text = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    if get_origin(hint) is Literal:
        text = f"Literal[{', '.join(map(repr, get_args(hint)))}]"
    return text.replace("|", "\\|")


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{field.default!r}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{field.default_factory()!r}`"
    return "required"


def _field_docs(cls: type[Any]) -> dict[str, str]:
    """The docstring line under each field, own and inherited."""
    docs: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if dataclasses.is_dataclass(owner):
            body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
            docs |= _strings_under_fields(body.body if isinstance(body, ast.ClassDef) else [])
    return docs


def _strings_under_fields(body: list[ast.stmt]) -> dict[str, str]:
    docs = {}
    for statement, following in pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and isinstance(following, ast.Expr):
            value = following.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docs[statement.target.id] = " ".join(value.value.split()).replace("|", "\\|")
    return docs


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
