"""What training keeps of a forward pass, counted tensor by tensor on torch's meta device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.functional import cross_entropy
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

from xplearn.policies.network import Network

_NAME = "xplearn-meta"
"""Under which attention and experts that compute nothing are registered with transformers."""
_SAMPLE = 64
"""Tokens of the forward pass that is counted, beside one of twice as many: what is kept is a line in them."""


def kept(model: Any) -> tuple[int, int]:
    """Bytes that autograd keeps between the forward and the backward pass of training, loss over every token included.

    Args:
        model: a transformers language model on the meta device, its adapter in place. It can be used for nothing else afterwards.

    Returns:
        Bytes whatever is read (PEFT merges the adapter of a layer of experts into a copy of them), and bytes for each token.
    """
    network = _prepared(model)
    with _without_autocast():
        once, twice = _pass(model, network, _SAMPLE), _pass(model, network, 2 * _SAMPLE)
    each = (twice - once) // _SAMPLE
    return once - each * _SAMPLE, each


def _prepared(model: Any) -> Network:
    network = Network(model)
    model.set_attn_implementation(_NAME)
    if model._can_set_experts_implementation():
        model.set_experts_implementation(_NAME)
    network.train(True)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.forward = partial(_dropout, share=module.p)  # type: ignore[method-assign]
    return network


def _pass(model: Any, network: Network, tokens: int) -> int:
    own = {_storage(value) for value in model.parameters()}
    found: dict[StorageWeakRef, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = _storage(tensor)
        if storage not in own:
            found.setdefault(storage, tensor)
        return tensor

    ids = torch.zeros(1, tokens, dtype=torch.int64)
    seen = torch.ones(1, 1, tokens, tokens, dtype=torch.bool)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        hidden = network.hidden(ids, torch.arange(tokens)[None], seen)
        cross_entropy(network.logits(hidden)[0], ids[0])
    return sum(tensor.untyped_storage().nbytes() for tensor in found.values())


def _storage(tensor: Tensor) -> StorageWeakRef:
    """What tells whether two tensors are views of the same memory."""
    return StorageWeakRef(tensor.untyped_storage())  # type: ignore[no-untyped-call]


def _dropout(states: Tensor, *, share: float) -> Tensor:
    """Dropout that keeps its mask as a GPU does, a byte a number; a processor keeps four."""
    return torch.native_dropout(states, share, True)[0]


@contextlib.contextmanager
def _without_autocast() -> Iterator[None]:
    """PEFT switches autocast off around experts, and torch has none for the meta device to switch off."""
    before = torch.autocast
    torch.autocast = lambda *_, **__: contextlib.nullcontext()  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        torch.autocast = before  # type: ignore[misc]


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


def _experts(part: Any, states: Tensor, chosen: Tensor, shares: Tensor) -> Tensor:
    """Experts multiplied in groups: a copy of each token for each expert it goes to. One expert stands for all, of one shape."""

    def times(inputs: Tensor, weights: Tensor) -> Tensor:
        return inputs @ (weights[0] if part.is_transposed else weights[0].T)

    copies = states.repeat_interleave(chosen.shape[-1], dim=0)
    inner = part._apply_gate(times(copies, part.gate_up_proj)) if part.has_gate else part.act_fn(times(copies, part.up_proj))
    weighted = times(inner, part.down_proj) * shares.reshape(-1, 1)
    return weighted.view(len(states), -1, states.shape[-1]).sum(dim=1).to(states.dtype)


AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, lambda *_, **__: None)
ALL_EXPERTS_FUNCTIONS.register(_NAME, _experts)
