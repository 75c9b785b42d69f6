"""A whole experiment from files and overrides, every part's fields checked before anything is built."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, cast

from xplearn.compose import LISTS, Override, compose
from xplearn.errors import ConfigError, XplearnError, nearest
from xplearn.fields import build, instantiate
from xplearn.registry import Registry, Slot
from xplearn.schema import EvaluateConfig, Experiment, ReplayConfig, RunConfig, SamplingConfig, StageConfig

SLOT_OF: dict[str, Slot] = {
    "policy": "policy",
    "encoder": "encoder",
    "store": "store",
    "selector": "selector",
    "conditioner": "conditioner",
    "record": "learner",
    "curriculum": "selector",
    "learner": "learner",
    "warmup": "learner",
}
"""Registered slot of each key of an experiment that holds parts."""


@dataclass(kw_only=True)
class Composition:
    """Keys of an experiment file that say how the experiment is put together; nothing of them is left in it."""

    preset: list[str] = field(default_factory=list)
    """Presets that the file is laid on, the first one undermost; one name may stand for a list of one."""
    order: list[int] | None = None
    """The stages of ``stream`` in another order, by their numbers as listed, e.g. ``[2, 0, 1]``; null for as listed."""


KEYS = tuple(item.name for block in (Composition, Experiment) for item in dataclasses.fields(block))
"""Everything that an experiment file may say at its top."""

BLOCKS: dict[str, type] = {"replay": ReplayConfig, "sampling": SamplingConfig, "evaluate": EvaluateConfig, "run": RunConfig}
"""Keys of an experiment that hold no part but settings."""

_MEANT = {"environment": "env"}
"""Words for fields that are called otherwise."""


def load_experiment(
    source: str | Mapping[str, Any] | None, overrides: Sequence[Override], registry: Registry
) -> tuple[Experiment, dict[str, Any]]:
    """An experiment from preset(s), file and dotted overrides, every part's fields checked.

    Args:
        source: path of a YAML file, name of a preset, a mapping, or None for overrides alone.
        overrides: ``key.path=value``; list items by number, e.g. ``learner.0.lr=1e-4``. ``order=[2,0,1]`` puts the stages of the stream,
            numbered as listed, in another order.
        registry: where parts and presets are found.

    Returns:
        The experiment, and the composed mapping as given (for the run's header).

    Raises:
        ConfigError: with the dotted path of what is wrong and the nearest valid name.
    """
    given = compose(source, overrides, registry)
    if "axes" in given:
        how = f"xplearn cross {source}" if isinstance(source, str) else "xplearn.cross(…)"
        raise ConfigError("axes", f"this is a cross file: {how}")
    _require_known(given, registry)
    raw = dict(given)
    order = raw.pop("order", None)
    experiment = instantiate(Experiment, _with_part_specs(raw), "")
    for path, slot, spec in parts_of(experiment):
        build(registry.get(slot, spec.name).load(), spec.fields, path=path)
    for index, stage in enumerate(experiment.stream):
        if not stage.env.python:
            build(registry.get("environment", stage.env.name).load(), stage.env.fields, path=f"stream.{index}.env")
    if order is not None:
        experiment.reorder(_permutation(order, len(experiment.stream)))
    return experiment, given


def parts_of(experiment: Experiment) -> list[tuple[str, Slot, Any]]:
    """``(path, slot, spec)`` of every part but the environments, in a fixed order."""
    found: list[tuple[str, Slot, Any]] = []
    for key, slot in SLOT_OF.items():
        value = getattr(experiment, key)
        if isinstance(value, list):
            found += [(f"{key}.{index}", slot, spec) for index, spec in enumerate(value)]
        else:
            found.append((key, slot, value))
    return found


def field_paths(field: str, given: Mapping[str, Any], registry: Registry) -> list[str]:
    """Dotted paths at which an experiment takes a field of this name: of the parts that a mapping names, a stage, then the blocks."""
    parts = [found for key, slot in SLOT_OF.items() for found in _named_parts(key, slot, given.get(key), registry)]
    blocks: list[tuple[str, type]] = [*parts, ("stream.0", StageConfig), *BLOCKS.items()]
    wanted = _MEANT.get(field, field)
    return [f"{path}.{wanted}" for path, cls in blocks if wanted in {item.name for item in dataclasses.fields(cast(Any, cls)) if item.init}]


def _named_parts(key: str, slot: Slot, value: Any, registry: Registry) -> Iterator[tuple[str, type]]:
    """Path and class of each part that can be loaded under a key."""
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        name = item.get("name") if isinstance(item, Mapping) else item
        with contextlib.suppress(XplearnError):
            found = registry.get(slot, name).load() if isinstance(name, str) else None
            if found is not None and dataclasses.is_dataclass(found):
                yield f"{key}.{number}" if key in LISTS else key, found


def _require_known(given: Mapping[str, Any], registry: Registry) -> None:
    unknown = next((key for key in given if key not in KEYS), None)
    if unknown is not None:
        places = field_paths(unknown, given, registry)
        hint = places[0] if places else nearest(unknown, KEYS)
        raise ConfigError(unknown, "unknown key" + (f"; did you mean '{hint}'?" if hint else "") + f" (known: {', '.join(KEYS)})")


def _with_part_specs(given: Mapping[str, Any]) -> dict[str, Any]:
    """The composed mapping with every part as ``{name, fields}``, the form of the schema."""
    raw = dict(given)
    for key, slot in SLOT_OF.items():
        value = raw.get(key)
        if isinstance(value, list):
            raw[key] = [_spec(item, f"{key}.{number}") for number, item in enumerate(value)]
        elif value is not None:
            raw[key] = _spec(_named(value, key), key)
        elif key in raw:
            hint = "for none say []" if key in LISTS else f"want the name of a part (list them: xplearn plugins --slot {slot})"
            raise ConfigError(key, f"is null; {hint}")
    if "policy" not in raw:
        raise ConfigError("policy", "is required: name a part (xplearn plugins --slot policy), a file or a preset, e.g. xplearn run demo")
    raw["evaluate"] = _greedy(raw.get("evaluate", {}), raw.get("sampling", {}))
    stream = raw.get("stream", [])
    if not isinstance(stream, list):
        raise ConfigError("stream", "want a list of stages, e.g. [{env: core.errands}]")
    raw["stream"] = [_stage(stage, f"stream.{index}") for index, stage in enumerate(stream)]
    return raw


def _permutation(order: Any, count: int) -> list[int]:
    """The numbers of ``count`` stages in another order, e.g. ``[2, 0, 1]``."""
    numbers = order if isinstance(order, list) and all(type(number) is int for number in order) else []
    if sorted(numbers) != list(range(count)):
        example = list(range(count))[::-1]
        raise ConfigError("order", f"is {order!r}; want each of the {count} stages once, by number from 0, e.g. {example}")
    return numbers


def _greedy(evaluate: Any, sampling: Any) -> Any:
    """Evaluation draws as ``sampling`` says, at temperature 0, unless it says otherwise itself."""
    if not isinstance(evaluate, dict) or not isinstance(sampling, dict) or not isinstance(evaluate.get("sampling", {}), dict):
        return evaluate
    return {**evaluate, "sampling": {**sampling, "temperature": 0.0, **evaluate.get("sampling", {})}}


def _named(value: Any, key: str) -> Any:
    """Fields alone mean the fields of the default part: ``store.path=x`` is ``store={name: core.sqlite, path: x}``."""
    default = next((item.default_factory for item in dataclasses.fields(Experiment) if item.name == key), MISSING)
    if isinstance(value, dict) and "name" not in value and callable(default):
        return {"name": default().name, **value}
    return value


def _stage(stage: Any, path: str) -> dict[str, Any]:
    if not isinstance(stage, dict) or "env" not in stage:
        raise ConfigError(path, "want a mapping with 'env', e.g. {env: core.errands}")
    spec = _spec(stage["env"], f"{path}.env")
    python = spec["fields"].pop("python", "")
    return {**stage, "env": {**spec, "python": python}}


def _spec(value: Any, path: str) -> dict[str, Any]:
    if isinstance(value, str):
        return {"name": value, "fields": {}}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return {"name": value["name"], "fields": {key: item for key, item in value.items() if key != "name"}}
    slot = SLOT_OF.get(path.partition(".")[0], "environment")
    raise ConfigError(path, f"want the name of a part, or a mapping with 'name' (list them: xplearn plugins --slot {slot})")
