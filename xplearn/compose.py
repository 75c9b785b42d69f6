"""Composing an experiment file: preset(s), then the file, then overrides. Plain ordered merge, no language.

Mappings merge key by key, everything else is replaced. Naming another part in a slot replaces the whole block: the fields of the
old part mean nothing to the new one. A list is replaced whole, unless a mapping by number is laid on it: ``learner: {0: {lr: 1e-4}}``
changes its first item, as the override ``learner.0.lr=1e-4`` does.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from xplearn.errors import ConfigError, nearest
from xplearn.registry import Registry

LISTS = ("record", "learner", "warmup", "preset")
"""Keys where one item may stand for a list of one."""

PARTS = ("env", "policy", "encoder", "store", "selector", "conditioner", "curriculum", "item")
"""Keys whose ``name`` says which part they are, an item of a list among them. (The ``name`` of ``run`` is just a name.)"""

SUFFIXES = (".yaml", ".yml")
"""What the name of an experiment file ends with."""

Raw = dict[str, Any]


Override = str | tuple[str, Any]
"""``"key.path=value"`` from a command line, or a path with its value from Python."""


def compose(source: str | Mapping[str, Any] | None, overrides: Sequence[Override], registry: Registry) -> Raw:
    """The merged mapping of a file, preset or mapping and overrides; raises ``ConfigError`` for whatever cannot be read."""
    layers = [_override(text, registry) if isinstance(text, str) else (text[0].split("."), copy.deepcopy(text[1])) for text in overrides]
    leading = [layer for layer in layers if layer[0] == ["preset"]]
    merged: Raw = {}
    if isinstance(source, str):
        merged = _read_source(source, registry)
    elif isinstance(source, Mapping):
        merged = _expand(copy.deepcopy(dict(source)), registry, ())
    elif source is not None:
        raise ConfigError("", f"want the path of a file, the name of a preset, or a mapping, not {source!r}")
    for _, value in leading:
        for name in _preset_names(value):
            merged = merge(merged, _preset(name, registry, ()))
    for path, value in layers:
        if path != ["preset"]:
            _set(merged, path, value)
            merged = _normal(merged)
    return {key: _edited([], value, key) if key in LISTS and _numbered(value) else value for key, value in _normal(merged).items()}


def merge(base: Raw, over: Raw) -> Raw:
    """``over`` laid on ``base``, neither changed."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        value = _with_text_numbers(key, value)  # noqa: PLW2901
        old = {"name": old} if isinstance(old, str) and isinstance(value, dict) and "name" in value else old
        if isinstance(old, dict) and isinstance(value, str) and "name" in old:
            value = {"name": value}  # noqa: PLW2901
        joins = isinstance(old, dict) and isinstance(value, dict) and not (key in PARTS and _renames(old, value))
        if _numbered(value) and isinstance(old, list):
            value = _edited(old, value, key)  # noqa: PLW2901
        result[key] = merge(cast("Raw", old), value) if joins else value
    return result


def _numbered(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(str(key).isascii() and str(key).isdecimal() for key in value)


def _with_text_numbers(key: str, value: Any) -> Any:
    """A change of items by number with its numbers as text, as overrides write them; YAML reads them as integers."""
    return {str(number): item for number, item in value.items()} if key in LISTS and _numbered(value) else value


def _edited(items: Sequence[Any], changes: Mapping[Any, Any], path: str) -> list[Any]:
    """The list with its items of these numbers changed; the number after the last adds one."""
    found = list(items)
    for number, change in sorted((int(key), change) for key, change in changes.items()):
        if number > len(found):
            raise ConfigError(f"{path}.{number}", f"the list has {len(found)} items, so the next is {len(found)}")
        old = found[number] if number < len(found) else {}
        named = {"name": old} if isinstance(old, str) and isinstance(change, dict) else old
        found[number : number + 1] = [merge({"item": named}, {"item": change})["item"]]
    return found


def _renames(old: Raw, new: Raw) -> bool:
    return "name" in new and "name" in old and new["name"] != old["name"]


def _preset_names(value: Any) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise ConfigError("preset", f"want the name of a preset or a list of names, not {value!r} (list them: xplearn plugins)")
    return names


def _read_source(source: str, registry: Registry) -> Raw:
    path = Path(source)
    try:
        if path.is_file():
            return _expand(_parse(path.read_text(encoding="utf-8"), source), registry, (source,))
        if path.is_dir():
            raise ConfigError("", f"{source}: is a folder; want an experiment file (to see a run: xplearn show {source})")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError("", f"{source[:80]}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if path.suffix in SUFFIXES:
        raise ConfigError("", f"{source}: no such file{_neighbour(path, registry)}")
    if source in registry.presets():
        return _preset(source, registry, ())
    raise ConfigError("", f"'{source}' is neither a file nor a preset{_presets_like(source, registry)} (list them: xplearn plugins)")


def _neighbour(path: Path, registry: Registry) -> str:
    """A question after a file that is there, or a preset, with almost the name of one that is not."""
    there = {file.stem: file for file in sorted(path.parent.glob("*")) if file.suffix in SUFFIXES}
    found = nearest(path.stem, there)
    if found is not None:
        return f"; did you mean '{there[found]}'?"
    preset = path.with_suffix("").as_posix()
    return f"; did you mean the preset '{preset}'?" if preset in registry.presets() else ""


def _presets_like(name: str, registry: Registry) -> str:
    """A question after the presets that begin with a name, in whichever folder, or else the one most like it."""
    begun = [known for known in registry.presets() if name and (known.startswith(name) or f"/{name}" in known)]
    hint = nearest(name, registry.presets())
    if len(begun) > 1:
        return f"; did you mean one of {', '.join(begun)}?"
    return f"; did you mean '{begun[0] if begun else hint}'?" if begun or hint else ""


def _parse(text: str, where: str) -> Raw:
    try:
        value = OmegaConf.to_container(OmegaConf.create(text), resolve=False) if text.strip() else {}
    except (YAMLError, OmegaConfBaseException) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark is not None else ""
        raise ConfigError("", f"{where}{line}: not YAML ({getattr(error, 'problem', None) or str(error).splitlines()[0]})") from None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ConfigError("", f"{where}: want a mapping, e.g. 'stream: [{{env: core.errands}}]'")
    return {str(key): item for key, item in value.items()}


def _expand(raw: Raw, registry: Registry, seen: tuple[str, ...]) -> Raw:
    """Lay a mapping on the presets it names."""
    raw = _normal(raw)
    merged: Raw = {}
    for name in _preset_names(raw.pop("preset", [])):
        merged = merge(merged, _preset(name, registry, seen))
    return merge(merged, raw)


def _preset(name: str, registry: Registry, seen: tuple[str, ...]) -> Raw:
    """A preset laid on those it names; ``seen`` are the files and presets that led here."""
    if name in seen:
        raise ConfigError("preset", f"'{name}' names itself: {' > '.join([*seen, name])}")
    if name not in registry.presets():
        raise ConfigError("preset", f"no preset is called '{name}'{_presets_like(name, registry)} (list them: xplearn plugins)")
    return _expand(_parse(registry.preset_text(name), f"preset {name}"), registry, (*seen, name))


def _normal(raw: Raw) -> Raw:
    raw = {key: _with_text_numbers(key, value) for key, value in raw.items()}
    single = {key for key, value in raw.items() if key in LISTS and isinstance(value, str | dict) and not _numbered(value)}
    return {key: [value] if key in single else value for key, value in raw.items()}


def _override(text: str, registry: Registry) -> tuple[list[str], Any]:
    key, equals, value = text.partition("=")
    path = key.strip().split(".")
    if not equals and key in registry.presets():
        raise ConfigError("", f"'{key}' is the name of a preset; to lay it over the rest: preset=[{key}]")
    if not equals or not all(path):
        raise ConfigError("", f"'{text}' is not an override; want key.path=value, e.g. run.seed=1")
    try:
        parsed = OmegaConf.to_container(OmegaConf.from_dotlist([f"value={value}"]), resolve=False)
    except (YAMLError, OmegaConfBaseException):
        raise ConfigError(key, f"'{value}' is not a YAML value") from None
    return path, parsed["value"] if isinstance(parsed, dict) else None


def _set(raw: Raw, path: Sequence[str], value: Any) -> None:
    """Lay one dotted override on the mapping, in place."""
    node: Any = raw
    for depth, key in enumerate(path[:-1]):
        node = _descend(node, key, ".".join(path[: depth + 1]))
    last = path[-1]
    if isinstance(node, list):
        node[:] = _edited(node, {_index(node, last, ".".join(path), more=True): value}, ".".join(path[:-1]))
    else:
        node[last] = merge({last: node[last]}, {last: value})[last] if last in node else value
        if last == "name" and len(path) > 1 and (path[-2] in PARTS or path[-2].isdecimal()):
            _drop_other_fields(node, value)


def _drop_other_fields(node: Raw, name: str) -> None:
    """``selector.name=x`` is the same as ``selector=x``: another part, none of the old one's fields."""
    node.clear()
    node["name"] = name


def _descend(node: Any, key: str, path: str) -> Any:
    if isinstance(node, list):
        index = _index(node, key, path)
        if isinstance(node[index], str):
            node[index] = {"name": node[index]}
        return node[index]
    child = node.get(key)
    if isinstance(child, str):
        child = node[key] = {"name": child}
    elif child is None:
        child = node[key] = {}
    if not isinstance(child, dict | list):
        raise ConfigError(path, f"is {child!r}, so it has no parts of its own")
    return child


def _index(node: list[Any], key: str, path: str, *, more: bool = False) -> int:
    """The position in a list that a key names; with ``more`` the one after its last as well."""
    last = len(node) - 1 + more
    if not (key.isascii() and key.isdecimal()) and node:
        items = "1 item; want its number" if len(node) == 1 else f"{len(node)} items; want the number of one, from 0"
        raise ConfigError(path, f"the list has {items}, e.g. {path.removesuffix(key)}0.{key}")
    if not (key.isascii() and key.isdecimal()) or int(key) > last:
        raise ConfigError(path, "the list is empty" if last < 0 else f"want a number from 0 to {last}")
    return int(key)
