"""What a policy needs, before it is loaded: its parameters counted on torch's meta device, where tensors have shapes and no memory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoConfig, AutoModelForCausalLM, LlamaConfig
from transformers.utils import logging

from xplearn.component import Component
from xplearn.errors import ConfigError, DataError, XplearnError
from xplearn.policies.architecture import Architecture, architecture
from xplearn.policies.hf import HfPolicy
from xplearn.policies.kept import kept
from xplearn.policies.network import Network
from xplearn.policies.precision import choose_device, choose_dtype
from xplearn.policies.tiny import TinyPolicy
from xplearn.policies.weights import AllWeights, LoraWeights, Weights

META = torch.device("meta")
_STATES = 4
"""Beside each trained parameter: its gradient, AdamW's two moments, and the copy that a failed training is undone with."""
_ALL_LENGTHS = 1 << 30
"""Context of a model that names none, as the policy takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """Parameters, exact, and bytes of memory, estimated.

    Not in it: the runtime (about a gigabyte on a GPU), fragmentation, what reading a prompt needs for a moment, and adapters at sites.
    """

    origin: str
    """Where the model's sizes were found."""
    dtype: str
    """Number format of the weights, e.g. ``bfloat16``."""
    lora: bool
    """One adapter is trained, not all weights."""
    backbone: int
    """Parameters of the model, tied ones once."""
    trainable: int
    """Parameters that are trained."""
    weights: int
    """Bytes of the model's weights."""
    adapter: int
    """Bytes of the LoRA adapter, in float32."""
    states: int
    """Bytes that training keeps for the trained parameters: gradients, AdamW's moments, copies to go back to."""
    kept: int
    """Bytes that the forward pass keeps for the backward pass, for each token it reads: nothing is computed twice."""
    fixed: int
    """Bytes that it keeps however little it reads: a mixture's experts with the adapter merged in; next to nothing for others."""
    cached: int
    """Bytes of keys and values for each token of the prefix cache."""
    cache_tokens: int
    """Tokens of all live conversations together that the prefix cache may come to hold."""
    context: int
    """Tokens of the longest conversation."""

    @property
    def acting(self) -> int:
        """Bytes while acting, the prefix cache full."""
        return self.weights + self.adapter + self.cached * self.cache_tokens

    def activations(self, tokens: int) -> int:
        """Bytes that a forward pass on ``tokens`` keeps, each of them taken for an action token."""
        return self.fixed + self.kept * tokens

    def training(self, tokens: int) -> int:
        """Bytes while training on ``tokens`` at once."""
        return self.weights + self.adapter + self.states + self.activations(tokens)


def footprint(policy: Component) -> Footprint | None:
    """What a policy needs, or None where it is none of ours. Nothing is loaded or downloaded, and it takes about a second.

    Raises:
        DataError: the model's sizes are not known here, or make no model; with the file they were found in.
        ConfigError: its architecture, or the adapter on it, cannot be used.
    """
    if not isinstance(policy, HfPolicy):
        return None
    dtype = _dtype(policy)
    with _quietly(), META:
        config, origin = _made(policy) if isinstance(policy, TinyPolicy) else _published(policy.model, dtype)
        with _told(lambda reason: DataError(origin, f"these sizes make no '{config.model_type}' ({reason}); correct them there")):
            model = AutoModelForCausalLM.from_config(config, dtype=dtype)
        _check(model, origin)
        backbone, size = _count(model), _bytes(model)
        with _told(lambda reason: ConfigError("lora", f"no such adapter can be put on '{config.model_type}' ({reason})")):
            weights: Weights = AllWeights(model) if policy.lora is None else LoraWeights(model, policy.lora, 0)
        trained = dict(weights.named())
        adapter = _bytes(weights.model) - size
        with _told(lambda reason: DataError(origin, f"a forward pass of this '{config.model_type}' cannot be counted ({reason})")):
            fixed, each = kept(weights.model)
    states = _STATES * sum(value.nbytes for value in trained.values())
    own = getattr(config, "max_position_embeddings", None) or _ALL_LENGTHS
    return Footprint(
        origin=origin,
        dtype=_name(dtype),
        lora=policy.lora is not None,
        backbone=backbone,
        trainable=sum(value.numel() for value in trained.values()),
        weights=size,
        adapter=adapter,
        states=states if policy.lora else states + size,  # and the weights of before any training
        kept=each,
        fixed=fixed,
        cached=_cached(config, dtype),
        cache_tokens=policy.cache_tokens,
        context=min(policy.context_tokens or own, own),
    )


def _published(model: str, dtype: torch.dtype) -> tuple[Any, str]:
    """Configuration and where it was found. What is quantised is taken for what it was before."""
    found = architecture(model)
    values = {key: value for key, value in found.config.items() if key != "quantization_config"}
    with _told(lambda reason: DataError(found.origin, f"transformers cannot use it ({reason}); correct it there")):
        config = _kind(model, found).from_dict(_with_torch_types(values))
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise ConfigError(
            "model", f"'{config.model_type}' ({found.origin}) is no causal language model; choose one, e.g. of the type llama"
        )
    _check_heads(config, found.origin)
    note = f", quantised there and counted in {_name(dtype)}" if found.config.get("quantization_config") else ""
    return config, found.origin + note


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


def _check(model: Any, origin: str) -> None:
    """Raise ``ConfigError`` where the policy could not take the model apart."""
    if not hasattr(model.base_model, "layers") or not hasattr(model.config, "num_attention_heads"):
        raise ConfigError(
            "model",
            f"'{model.config.model_type}' ({origin}) is not built as a list of decoder layers with attention, which prefix reuse needs; "
            "choose a model of another type, e.g. llama, qwen3 or mixtral",
        )
    Network(model)


@contextmanager
def _told(as_error: Callable[[str], XplearnError]) -> Iterator[None]:
    """A context in which whatever another library raises becomes one line."""
    try:
        yield
    except XplearnError:
        raise
    except Exception as error:
        raise as_error(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}") from error


@contextmanager
def _quietly() -> Iterator[None]:
    """A context without the warnings of libraries: they are about running a model, and none is run."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(before)


def _made(policy: TinyPolicy) -> tuple[Any, str]:
    """What ``core.tiny`` makes where its corpus fills the vocabulary."""
    config = LlamaConfig(
        vocab_size=policy.vocabulary,
        hidden_size=policy.width,
        intermediate_size=2 * policy.width,
        num_hidden_layers=policy.layers,
        num_attention_heads=policy.heads,
        num_key_value_heads=policy.heads,
        max_position_embeddings=policy.context_tokens,
        tie_word_embeddings=True,
    )
    return config, "its fields, with a full vocabulary"


def _dtype(policy: HfPolicy) -> torch.dtype:
    """As the policy chooses it; for a GPU that is not here, as on a GPU."""
    wanted = policy.dtype if policy.dtype != "auto" or policy.lora is not None else "fp32"
    try:
        device = choose_device(policy.device)
    except ConfigError:
        return choose_dtype("bf16" if wanted == "auto" else wanted, META)
    return choose_dtype(wanted, device)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _count(model: Any) -> int:
    return sum(value.numel() for value in model.parameters())


def _bytes(model: Any) -> int:
    return sum(value.nbytes for value in model.parameters())


def _cached(config: Any, dtype: torch.dtype) -> int:
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * config.num_hidden_layers * heads * width * dtype.itemsize)
