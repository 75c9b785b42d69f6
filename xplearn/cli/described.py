"""What a block of a configuration may say, read from its dataclass: names, types, defaults, and the docstring under each field."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import json
import textwrap
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from xplearn.errors import XplearnError

if TYPE_CHECKING:
    from xplearn.component import Component


class Described(NamedTuple):
    """One field as text."""

    path: str
    """Dotted from the block, e.g. ``lora.rank``."""
    type: str
    """The annotation; a name for a few literal values is told as these values."""
    default: str
    """As YAML; ``required`` without one, and ``as below`` for a block whose own fields follow."""
    meaning: str


def described(cls: type[Any]) -> list[Described]:
    """Every field of a block, those of blocks inside it after the field that holds them."""
    return [row for field in _fields(cls) for row in _rows(cls, field)]


def described_field(cls: Any, field: dataclasses.Field[Any], default: Any = dataclasses.MISSING) -> Described:
    """One field; ``default`` stands for its own where a block around it says otherwise."""
    value = _default(field) if default is dataclasses.MISSING else default
    text = "required" if value is dataclasses.MISSING else "as below" if dataclasses.is_dataclass(value) else as_yaml(value)
    return Described(field.name, _type(cls, field), text, _meanings(cls).get(field.name, ""))


def summary(cls: type[Any]) -> str:
    """The first paragraph of a class's docstring, on one line."""
    return " ".join(inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].split())


def capabilities(cls: type[Component]) -> Mapping[str, Sequence[str]]:
    """What a part provides and requires by default, as far as it can be made without being told anything."""
    try:
        part = cls()
    except (TypeError, XplearnError):
        return {}
    found = {"provides": sorted(part.provides), "requires": sorted(part.requires)}
    return {word: names for word, names in found.items() if names}


def block_in(hint: Any) -> type[Any] | None:
    """The dataclass in ``X``, ``X | None`` or ``list[X]``."""
    return next((kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and dataclasses.is_dataclass(kind)), None)


def as_yaml(value: Any) -> str:
    """A value as an experiment file says it, on one line."""
    import yaml

    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("...\n").strip()
    return json.dumps(value, ensure_ascii=False) if "\n" in text else text


def _fields(cls: Any) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(cls) if field.init] if dataclasses.is_dataclass(cls) else []


def _rows(cls: type[Any], field: dataclasses.Field[Any]) -> list[Described]:
    own, block = _default(field), block_in(get_type_hints(cls)[field.name])
    found = [described_field(cls, field)]
    for inner in _fields(block) if block else []:
        row = described_field(block, inner, getattr(own, inner.name, dataclasses.MISSING))
        found.append(row._replace(path=f"{field.name}.{inner.name}"))
    return found


def _type(cls: Any, field: dataclasses.Field[Any]) -> str:
    hint = get_type_hints(cls)[field.name]
    if get_origin(hint) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(hint)))}]"
    return field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


@functools.cache
def _meanings(cls: Any) -> dict[str, str]:
    """The docstring under each field, own and inherited."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if "__dataclass_fields__" in vars(owner):
            body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
            found |= _strings_under_fields(body.body if isinstance(body, ast.ClassDef) else [])
    return found


def _strings_under_fields(body: list[ast.stmt]) -> dict[str, str]:
    found = {}
    for statement, following in pairwise(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and isinstance(following, ast.Expr):
            value = following.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                found[statement.target.id] = " ".join(value.value.split())
    return found
