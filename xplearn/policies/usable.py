"""Whether the policy can use a model, told before its weights are read. ``core.hf`` and the estimate ask here, and nowhere else."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, AutoModelForCausalLM
from transformers.utils import logging

from xplearn.errors import ConfigError, DataError, XplearnError
from xplearn.policies.architecture import Architecture, architecture

META = torch.device("meta")
"""Where tensors have shapes and no memory."""
_MODEL = "policy.model"
_ALL_LENGTHS = 1 << 30


def check_usable(model: str, *, dtype: torch.dtype, context_tokens: int) -> None:
    """Read a model's ``config.json`` and build it without weights; about a second for a large one.

    Args:
        model: as ``architecture`` takes it.
        dtype: of the weights that would be loaded.
        context_tokens: longest conversation; 0 for the model's own limit.

    Raises:
        DataError: its sizes are not known here, or make no model; with the file they were found in.
        ConfigError: its architecture cannot be used.
    """
    with quietly():
        config, found = published(model)
        skeleton(config, found.origin, dtype=dtype, context_tokens=context_tokens)


def published(model: str) -> tuple[Any, Architecture]:
    """Configuration of a causal language model, and where it was found. What is quantised is taken for what it was before.

    Raises:
        DataError: as in ``check_usable``.
        ConfigError: it is no causal language model.
    """
    found = architecture(model)
    values = {key: value for key, value in found.config.items() if key != "quantization_config"}
    with told(lambda reason: DataError(found.origin, f"transformers cannot use it ({reason}); correct it there")):
        config = _kind(model, found).from_dict(_with_torch_types(values))
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise ConfigError(_MODEL, f"'{config.model_type}' ({found.origin}) is no causal language model; choose one, e.g. of the type llama")
    _check_heads(config, found.origin)
    return config, found


def skeleton(config: Any, origin: str, *, dtype: torch.dtype, context_tokens: int) -> Any:
    """The model of a configuration on the meta device, checked whole.

    Raises:
        DataError: the sizes make no model.
        ConfigError: its architecture cannot be used.
    """
    with META, told(lambda reason: DataError(origin, f"these sizes make no '{config.model_type}' ({reason}); correct them there")):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    if not hasattr(model.base_model, "layers") or not hasattr(config, "num_attention_heads"):
        raise ConfigError(
            _MODEL,
            f"'{config.model_type}' ({origin}) is not built as a list of decoder layers with attention, which prefix reuse needs; "
            "choose a model of another type, e.g. llama, qwen3 or mixtral",
        )
    if not model._can_set_attn_implementation():
        raise ConfigError(
            _MODEL,
            f"'{config.model_type}' ({origin}) computes attention in a way of its own, which packing cannot replace; "
            "choose a model of another type, e.g. llama, qwen3 or mixtral",
        )
    check_attention(config, context_tokens)
    return model


def context(config: Any, context_tokens: int) -> int:
    """Longest prompt and completion together, in tokens: what is asked for, within the model's own limit."""
    own = getattr(config, "max_position_embeddings", None) or _ALL_LENGTHS
    return int(min(context_tokens or own, own))


def check_attention(config: Any, context_tokens: int) -> None:
    """Raise ``ConfigError`` where full attention over the context, as the policy computes it, would give wrong numbers."""
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    if kinds != {"full_attention"}:
        raise ConfigError(
            _MODEL, f"'{config.model_type}' has {', '.join(sorted(kinds))} layers; only models with full attention are supported"
        )
    for name in ("final_logit_softcapping", "attn_logit_softcapping", "logits_scaling", "logit_scale"):
        if getattr(config, name, None) not in (None, 1, 1.0):
            raise ConfigError(_MODEL, f"'{config.model_type}' sets {name}, which is not supported")
    window, longest = _window(config), context(config, context_tokens)
    if window is not None and window < longest:
        raise ConfigError(
            _MODEL,
            f"'{config.model_type}' sees the last {window} tokens only (sliding_window) and conversations may have {longest}; "
            f"keep them within what it sees: policy.context_tokens={window}",
        )


def _window(config: Any) -> int | None:
    """Tokens that a sliding window shows, the latest included; None where every layer sees everything.

    What the type has no field for, transformers ignores; types with ``layer_types`` slide in the layers named so and in no other; and
    those with ``use_sliding_window`` have dropped the window themselves where it is false.
    """
    kind = type(config)
    window = config.sliding_window if hasattr(kind, "sliding_window") and not hasattr(kind, "layer_types") else None
    return None if window is None else int(window)


def _kind(model: str, found: Architecture) -> Any:
    kind = found.config["model_type"]
    try:
        return type(AutoConfig.for_model(kind))
    except ValueError as error:
        raise DataError(model, f"transformers knows no model of type '{kind}' ({found.origin}); pip install -U transformers") from error


def _with_torch_types(values: dict[str, Any]) -> dict[str, Any]:
    for key in ("dtype", "torch_dtype"):
        name = values.get(key)
        if isinstance(name, str) and not isinstance(getattr(torch, name.removeprefix("torch."), None), torch.dtype):
            raise ValueError(f"'{key}' names no number format of torch: '{name}'")
    return values


def _check_heads(config: Any, origin: str) -> None:
    """As the policy's attention divides them; a model without attention heads is refused later."""
    heads = getattr(config, "num_attention_heads", None)
    if not isinstance(heads, int):
        return
    groups = getattr(config, "num_key_value_heads", None) or heads
    if heads % groups:
        raise DataError(origin, f"'num_attention_heads' ({heads}) is no multiple of 'num_key_value_heads' ({groups}); correct it there")
    if not getattr(config, "head_dim", None) and config.hidden_size % heads:
        raise DataError(origin, f"'hidden_size' ({config.hidden_size}) is no multiple of 'num_attention_heads' ({heads}); correct it there")


@contextmanager
def told(as_error: Callable[[str], XplearnError]) -> Iterator[None]:
    """A context in which whatever another library raises becomes one line."""
    try:
        yield
    except XplearnError:
        raise
    except Exception as error:
        raise as_error(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}") from error


@contextmanager
def quietly() -> Iterator[None]:
    """A context without the warnings of libraries: they are about running a model, and none is run."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


@contextmanager
def without_progress() -> Iterator[None]:
    """A context without transformers' progress bars: xplearn shows its own."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
