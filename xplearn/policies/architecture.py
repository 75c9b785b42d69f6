"""The sizes of a model without its weights: from its ``config.json``, or for some models of the hub from a table.

Nothing here imports torch, and nothing is downloaded.
"""

from __future__ import annotations

import importlib.resources
import json
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xplearn.errors import DataError
from xplearn.policies import backbone

TABLE = "architectures.json"
"""Sizes as in the models' published ``config.json``, by hub name."""

SIZES: Mapping[str, int] = {
    "num_hidden_layers": 512,
    "n_layer": 512,
    "num_layers": 512,
    "max_position_embeddings": 2**31,
    "sliding_window": 2**31,
    **dict.fromkeys(("hidden_size", "intermediate_size", "head_dim", "num_attention_heads", "num_key_value_heads", "vocab_size"), 2**20),
}
"""Keys of ``config.json`` that are whole numbers from 1 on, and the largest believed in: a deeper model takes minutes to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """What a model looks like."""

    config: Mapping[str, Any]
    """As in ``config.json``: ``model_type`` and at least the sizes, which are whole numbers."""
    origin: str
    """Where it was found: the path of a file, or the table."""


def architecture(model: str) -> Architecture:
    """The architecture of what ``backbone.resolve`` would load.

    Args:
        model: a name of ``backbone.KNOWN``, a local folder, or a hub name.

    Raises:
        DataError: it is not known here, or a size is none; the message says which and what to do.
    """
    file = backbone.config_file(model)
    if file is not None:
        return Architecture(config=_read(file), origin=str(file))
    name = backbone.KNOWN[model].hub if model in backbone.KNOWN else model
    table: dict[str, dict[str, Any]] = json.loads(importlib.resources.files(__package__).joinpath(TABLE).read_text(encoding="utf-8"))
    if name in table:
        return Architecture(config=table[name], origin=f"a table of {len(table)} models")
    raise DataError(
        model,
        f"its sizes are not known here (neither in the hub's cache nor among {', '.join(table)}); "
        f"get its config.json where the hub is reachable (hf download {name} config.json), or set policy.model to a local folder",
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(file, f"cannot be read ({error}); give a folder that save_pretrained wrote") from None
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise DataError(file, "names no model_type, so it is not a transformers model's; give a folder that save_pretrained wrote")
    for key, most, value in _sizes(config):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise DataError(file, f"'{key}' must be a whole number from 1 to {most:,}, not {reprlib.repr(value)}; correct it there")
    return config


def _sizes(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, int, Any]]:
    """Path, limit and value of every size, those of nested models included; transformers knows what to make of a null."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _sizes(value, f"{path}{key}.")
        elif key in SIZES and value is not None:
            yield path + key, SIZES[key], value
