"""What a policy needs, before it is loaded: its parameters counted on torch's meta device, where tensors have shapes and no memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from xplearn.component import Component
from xplearn.errors import ConfigError, DataError
from xplearn.policies.hf import HfPolicy
from xplearn.policies.kept import kept
from xplearn.policies.precision import choose_device, choose_dtype
from xplearn.policies.tiny import TinyPolicy
from xplearn.policies.usable import META, context, published, quietly, skeleton, told
from xplearn.policies.weights import AllWeights, LoraWeights, Weights

_STATES = 4
"""Beside each trained parameter: its gradient, AdamW's two moments, and the copy that a failed training is undone with."""


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

    For a process that does nothing else meanwhile: ``torch.autocast`` is replaced while it counts.

    Raises:
        DataError: the model's sizes are not known here, or make no model; with the file they were found in.
        ConfigError: its architecture, or the adapter on it, cannot be used.
    """
    if not isinstance(policy, HfPolicy):
        return None
    dtype = _dtype(policy)
    with quietly(), META:
        config, origin = _made(policy) if isinstance(policy, TinyPolicy) else _published(policy.model, dtype)
        model = skeleton(config, origin, dtype=dtype, context_tokens=policy.context_tokens)
        backbone, size = _count(model), _bytes(model)
        with told(lambda reason: ConfigError("lora", f"no such adapter can be put on '{config.model_type}' ({reason})")):
            weights: Weights = AllWeights(model) if policy.lora is None else LoraWeights(model, policy.lora, 0)
        trained = dict(weights.named())
        adapter = _bytes(weights.model) - size
        with told(lambda reason: DataError(origin, f"a forward pass of this '{config.model_type}' cannot be counted ({reason})")):
            fixed, each = kept(weights.model)
    states = _STATES * sum(value.nbytes for value in trained.values())
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
        context=context(config, policy.context_tokens),
    )


def _published(model: str, dtype: torch.dtype) -> tuple[Any, str]:
    """Configuration, and in words where it was found."""
    config, found = published(model)
    note = f", quantised there and counted in {_name(dtype)}" if found.config.get("quantization_config") else ""
    return config, found.origin + note


def _made(policy: TinyPolicy) -> tuple[Any, str]:
    """What ``core.tiny`` makes where its corpus fills the vocabulary."""
    return policy.architecture(policy.vocabulary), "its fields, with a full vocabulary"


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
