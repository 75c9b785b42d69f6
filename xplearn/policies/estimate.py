"""What a policy needs, before it is loaded: its parameters counted on torch's meta device, where tensors have shapes and no memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.functional import cross_entropy
from transformers import AttentionInterface, AttentionMaskInterface, AutoConfig, AutoModelForCausalLM, LlamaConfig

from xplearn.component import Component
from xplearn.errors import ConfigError, DataError
from xplearn.policies.architecture import architecture
from xplearn.policies.hf import HfPolicy
from xplearn.policies.network import Network
from xplearn.policies.precision import choose_device, choose_dtype
from xplearn.policies.tiny import TinyPolicy
from xplearn.policies.weights import AllWeights, LoraWeights, Weights

META = torch.device("meta")
_ATTENTION = "xplearn-meta"
_SAMPLE = 64
"""Tokens of the forward pass that is counted; what it keeps grows with them in proportion."""
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

    def training(self, tokens: int) -> int:
        """Bytes while training on ``tokens`` at once, each of them taken for an action token."""
        return self.weights + self.adapter + self.states + self.kept * tokens


def footprint(policy: Component) -> Footprint | None:
    """What a policy needs, or None where it is none of ours. Nothing is loaded or downloaded, and it takes about a second.

    Raises:
        DataError: the model's sizes are not known here.
        ConfigError: its architecture cannot be used.
    """
    if not isinstance(policy, HfPolicy):
        return None
    config, origin = _made(policy) if isinstance(policy, TinyPolicy) else _published(policy.model)
    dtype = _dtype(policy)
    with META:
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
        backbone, size = _count(model), _bytes(model)
        weights: Weights = AllWeights(model) if policy.lora is None else LoraWeights(model, policy.lora, 0)
        kept = _kept(weights)
    trained = dict(weights.named())
    states = _STATES * sum(value.nbytes for value in trained.values())
    context = min(policy.context_tokens or config.max_position_embeddings, config.max_position_embeddings)
    return Footprint(
        origin=origin,
        dtype=str(dtype).removeprefix("torch."),
        lora=policy.lora is not None,
        backbone=backbone,
        trainable=sum(value.numel() for value in trained.values()),
        weights=size,
        adapter=_bytes(weights.model) - size,
        states=states if policy.lora else states + size,  # and the weights of before any training
        kept=kept,
        cached=_cached(config, dtype),
        cache_tokens=policy.cache_tokens,
        context=context,
    )


def _published(model: str) -> tuple[Any, str]:
    found = architecture(model)
    kind = found.config["model_type"]
    try:
        return type(AutoConfig.for_model(kind)).from_dict(dict(found.config)), found.origin
    except ValueError as error:
        raise DataError(model, f"transformers knows no model of type '{kind}' ({found.origin}); pip install -U transformers") from error


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


def _count(model: Any) -> int:
    return sum(value.numel() for value in model.parameters())


def _bytes(model: Any) -> int:
    return sum(value.nbytes for value in model.parameters())


def _cached(config: Any, dtype: torch.dtype) -> int:
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * config.num_hidden_layers * heads * width * dtype.itemsize)


def _kept(weights: Weights) -> int:
    """Bytes per token that autograd keeps between the forward and the backward pass of training, loss over every token included."""
    network = Network(weights.model)
    weights.model.set_attn_implementation(_ATTENTION)
    network.train(True)
    for module in weights.model.modules():
        if isinstance(module, nn.Dropout):
            module.forward = partial(_dropout, share=module.p)  # type: ignore[method-assign]
    own = {_storage(value) for value in weights.model.parameters()}
    found: dict[StorageWeakRef, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = _storage(tensor)
        if storage not in own:
            found.setdefault(storage, tensor)
        return tensor

    ids = torch.zeros(1, _SAMPLE, dtype=torch.int64)
    seen = torch.ones(1, 1, _SAMPLE, _SAMPLE, dtype=torch.bool)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        hidden = network.hidden(ids, torch.arange(_SAMPLE)[None], seen)
        cross_entropy(network.logits(hidden)[0], ids[0])
    return sum(tensor.untyped_storage().nbytes() for tensor in found.values()) // _SAMPLE


def _storage(tensor: Tensor) -> StorageWeakRef:
    """What tells whether two tensors are views of the same memory."""
    return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]


def _dropout(states: Tensor, *, share: float) -> Tensor:
    """Dropout that keeps its mask as a GPU does, a byte a number; a processor keeps four."""
    return torch.native_dropout(states, share, True)[0]


class _Attend(torch.autograd.Function):
    """Attention by kernels that never hold the table of all pairs of tokens: inputs and result are kept, nothing is computed."""

    @staticmethod
    def forward(context: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        result = torch.empty_like(query)
        context.save_for_backward(query, key, value, result)
        return result


def _attend(_module: Any, query: Tensor, key: Tensor, value: Tensor, _mask: Tensor | None, **_: Any) -> tuple[Tensor, None]:
    result: Tensor = _Attend.apply(query, key, value)  # type: ignore[no-untyped-call]
    return result.transpose(1, 2).contiguous(), None


AttentionInterface.register(_ATTENTION, _attend)
AttentionMaskInterface.register(_ATTENTION, lambda *_, **__: None)
